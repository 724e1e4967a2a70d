// k6/websockets: how sockets end.
import { WebSocket } from 'k6/websockets';

export default async function () {
  const base = __ENV.BASE.replace('http', 'ws');
  function run(path, onOpen) {
    return new Promise((resolve) => {
      const socket = new WebSocket(base + path);
      socket.onopen = () => onOpen && onOpen(socket);
      socket.onerror = (event) => console.log(path, 'error', event.error, socket.readyState);
      socket.onclose = (event) => {
        console.log(path, 'close', event.code, event.reason, socket.readyState);
        resolve();
      };
    });
  }
  await run('/ws/echo', (socket) => {
    for (const code of [1, 999, 1005, 1006]) {
      try {
        socket.close(code);
      } catch (error) {
        console.log(String(error));
      }
    }
    socket.close();
    console.log(socket.readyState);
    try {
      socket.send('late');
    } catch (error) {
      console.log(String(error));
    }
  });
  await run('/ws/echo', (socket) => socket.close(1000, 'because'));
  await run('/ws/close?code=1000&reason=fine&delay=20');
  await run('/ws/close?code=1008&reason=bye&delay=20');
  await run('/ws/close?delay=20');
  await run('/ws/cut?delay=20');
  await run('/status/403');
}
