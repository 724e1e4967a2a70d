// What is no function is taken for a handler and passed over.
import ws from 'k6/ws';
export default function () {
  for (const handler of [undefined, null, 5, 'x', {}]) {
    const response = ws.connect(`${__ENV.BASE.replace('http', 'ws')}/ws/echo`, null, (socket) => {
      socket.on('open', handler);
      socket.on('open', () => socket.close());
    });
    console.log(String(handler), response.status);
  }
}
