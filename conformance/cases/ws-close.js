// k6/ws: how a session ends: by the script, by the server, by an end without a close frame.
import ws from 'k6/ws';

export default function () {
  const base = __ENV.BASE.replace('http', 'ws');
  function run(path, onOpen) {
    const response = ws.connect(base + path, {}, (socket) => {
      socket.on('open', () => onOpen && onOpen(socket));
      socket.on('error', (error) => console.log(path, 'error', error.error()));
      socket.on('close', (code) => console.log(path, 'close', code));
    });
    console.log(path, response.status, response.error === '');
  }
  run('/ws/echo', (socket) => socket.close());
  run('/ws/echo', (socket) => socket.close(1000));
  run('/ws/echo', (socket) => socket.close(3000));
  run('/ws/close?code=1000&delay=20');
  run('/ws/close?code=1001&reason=gone&delay=20');
  run('/ws/close?code=1008&reason=bye&delay=20');
  run('/ws/close?delay=20');
  run('/ws/cut?delay=20');
}
