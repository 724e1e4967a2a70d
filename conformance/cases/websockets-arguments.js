// k6/websockets: what the constructor takes, and what it says of others.
import { WebSocket } from 'k6/websockets';

export default async function () {
  const url = `${__ENV.BASE.replace('http', 'ws')}/ws/echo`;
  function attempt(label, ...args) {
    return new Promise((resolve) => {
      try {
        const socket = new WebSocket(...args);
        socket.onopen = () => {
          console.log(label, socket.protocol, JSON.stringify(socket.extensions));
          socket.close();
        };
        socket.onclose = resolve;
      } catch (error) {
        console.log(label, String(error));
        resolve();
      }
    });
  }
  await attempt('one protocol', url, 'p1');
  await attempt('protocols', url, ['p1', 'p2']);
  await attempt('null', url, null, null);
  await attempt('deflate', `${url}?deflate=1`, null, { compression: 'deflate' });
  await attempt('unknown', url, null, { what: 1 });
  await attempt('compression', url, null, { compression: 'gzip' });
  await attempt('nothing');
  await attempt('http', __ENV.BASE);
  await attempt('nonsense', 'nonsense');
  await attempt('fragment', `${url}#there`);
  const socket = new WebSocket(url);
  for (const work of [
    () => socket.send('early'),
    () => socket.ping(),
    () => (socket.binaryType = 'text'),
    () => (socket.onopen = 3),
  ]) {
    try {
      work();
    } catch (error) {
      console.log(String(error));
    }
  }
  socket.onclose = (event) => console.log(event.code, socket.readyState);
  socket.close();
}
