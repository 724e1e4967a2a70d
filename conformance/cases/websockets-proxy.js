//! env: HTTP_PROXY=$PROXY
// k6/websockets through a proxy.
import { WebSocket } from 'k6/websockets';

export const options = { systemTags: ['status', 'subproto'] };

export default function () {
  const socket = new WebSocket(`ws://tunnel.test:${__ENV.BASE.split(':')[2]}/ws/echo`);
  socket.onopen = () => socket.send('hello');
  socket.onmessage = (event) => {
    console.log(event.data);
    socket.close();
  };
  socket.onerror = (event) => console.log(event.error);
  socket.onclose = (event) => console.log(event.code);
}
