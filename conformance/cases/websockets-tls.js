//! tls: valid
// k6/websockets over TLS.
import { WebSocket } from 'k6/websockets';

export default function () {
  const socket = new WebSocket(`${__ENV.TLS_BASE.replace('https', 'wss')}/ws/echo`);
  socket.onopen = () => socket.send('hello');
  socket.onmessage = (event) => {
    console.log(event.data);
    socket.close();
  };
  socket.onerror = (event) => console.log(event.error);
  socket.onclose = (event) => console.log(event.code);
}
