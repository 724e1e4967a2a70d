// k6/ws: messages, binary messages and pings go out and come back.
import ws from 'k6/ws';
import { check } from 'k6';

export default function () {
  const response = ws.connect(`${__ENV.BASE.replace('http', 'ws')}/ws/echo`, { tags: { my: 'tag' } }, (socket) => {
    console.log(Object.keys(socket).join());
    socket.on('open', () => {
      socket.send('hello');
      socket.sendBinary(new Uint8Array([1, 2, 3]).buffer);
      socket.ping();
    });
    socket.on('message', (text) => console.log('message', typeof text, text));
    socket.on('binaryMessage', (bytes) => console.log('binary', new Uint8Array(bytes).join()));
    socket.on('pong', () => socket.close());
    socket.on('close', (code) => console.log('close', code));
    socket.on('error', (error) => console.log('error', error.error()));
  });
  check(response, { 'status is 101': (r) => r && r.status === 101 });
  console.log(response.url, response.status, response.headers.Upgrade, response.body === '', response.error === '');
}
