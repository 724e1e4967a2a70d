// k6/websockets: pings in both directions.
import { WebSocket } from 'k6/websockets';

export default function () {
  const socket = new WebSocket(`${__ENV.BASE.replace('http', 'ws')}/ws/ping`);
  socket.onping = (event) => {
    console.log(event.type);
    socket.ping();
  };
  socket.onpong = (event) => {
    console.log(event.type);
    setTimeout(() => socket.close(), 50);
  };
  socket.onmessage = (event) => console.log(event.data);
  socket.onclose = (event) => console.log(event.code);
}
