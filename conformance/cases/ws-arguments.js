// k6/ws: which arguments connect() takes, and what it says of others.
import ws from 'k6/ws';

function attempt(label, work) {
  try {
    const response = work();
    console.log(label, response.status, response.error, response.url);
  } catch (error) {
    console.log(label, String(error));
  }
}

export default function () {
  const url = `${__ENV.BASE.replace('http', 'ws')}/ws/echo`;
  const closing = (socket) => socket.on('open', () => socket.close());
  attempt('two', () => ws.connect(url, closing));
  attempt('null', () => ws.connect(url, null, closing));
  attempt('unknown', () => ws.connect(url, { what: 1 }, closing));
  attempt('compression', () => ws.connect(url, { compression: 'gzip' }, closing));
  attempt('http', () => ws.connect(__ENV.BASE, {}, closing));
  attempt('nonsense', () => ws.connect('nonsense', {}, closing));
  attempt('no function', () => ws.connect(url, {}, 3) && console.log('no throw'));
}
