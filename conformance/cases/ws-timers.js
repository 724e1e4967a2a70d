// k6/ws: setTimeout and setInterval of a socket.
import ws from 'k6/ws';

export default function () {
  ws.connect(`${__ENV.BASE.replace('http', 'ws')}/ws/echo`, {}, (socket) => {
    let count = 0;
    socket.on('open', () => {
      for (const [name, ms] of [['setTimeout', 0], ['setInterval', -1]]) {
        try {
          socket[name](() => console.log('never'), ms);
        } catch (error) {
          console.log(String(error));
        }
      }
      socket.setInterval(() => {
        count += 1;
        if (count <= 3) socket.send(`tick ${count}`);
      }, 20);
      socket.setTimeout(() => socket.close(), 300);
    });
    socket.on('message', (text) => console.log(text));
  });
}
