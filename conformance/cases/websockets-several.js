// k6/websockets: several sockets at once, listeners, and an iteration that ends when they do.
//! unordered
import { WebSocket } from 'k6/websockets';

export default function () {
  const base = __ENV.BASE.replace('http', 'ws');
  for (let number = 0; number < 3; number++) {
    const socket = new WebSocket(`${base}/ws/echo`);
    let received = 0;
    socket.addEventListener('open', () => {
      for (let message = 0; message < 5; message++) socket.send(`message ${message}`);
    });
    socket.addEventListener('message', (event) => {
      received += 1;
      if (received === 5) socket.close();
    });
    socket.addEventListener('close', (event) => console.log(number, received, event.code));
  }
  console.log('the function is over');
}
