// k6/ws: pings of the server, fragments, compressed messages, many messages.
import ws from 'k6/ws';

export default function () {
  const base = __ENV.BASE.replace('http', 'ws');
  function run(path, params, last) {
    let received = 0;
    ws.connect(base + path, params, (socket) => {
      socket.on('ping', () => console.log(path, 'ping'));
      socket.on('message', (text) => {
        received += 1;
        if (received === last) {
          console.log(path, text.length > 40 ? text.length : text);
          socket.close();
        }
      });
    });
    console.log(path, received);
  }
  run('/ws/ping', {}, 1);
  run('/ws/fragments', {}, 1);
  run(`/ws/say?deflate=1&text=${'again%20'.repeat(50)}`, { compression: 'deflate' }, 1);
  run('/ws/say?count=500', {}, 500);
}
