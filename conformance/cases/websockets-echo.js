// k6/websockets: text, bytes as blob and as ArrayBuffer.
import { WebSocket } from 'k6/websockets';

export default function () {
  const url = `${__ENV.BASE.replace('http', 'ws')}/ws/echo`;
  const socket = new WebSocket(url, null, { tags: { my: 'tag' } });
  console.log(socket.readyState, socket.url, socket.binaryType, socket.bufferedAmount, socket.protocol === '');
  socket.onopen = (event) => {
    console.log(event.type, event.target === socket, typeof event.timestamp, socket.readyState);
    socket.send('hello');
    socket.send(new Uint8Array([1, 2, 3]));
  };
  socket.onmessage = async (event) => {
    console.log(event.type, event.origin);
    if (typeof event.data === 'string') return console.log(event.data);
    if (event.data instanceof ArrayBuffer) {
      console.log(new Uint8Array(event.data).join());
      return socket.close();
    }
    console.log(event.data.size, new Uint8Array(await event.data.arrayBuffer()).join());
    socket.binaryType = 'arraybuffer';
    socket.send(new Uint8Array([4, 5]).buffer);
  };
  socket.onclose = (event) => console.log(event.type, event.code, event.reason === '', socket.readyState);
}
