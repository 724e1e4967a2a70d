// k6/ws: an exception in a handler closes the socket and is thrown by connect().
import ws from 'k6/ws';

export default function () {
  const url = `${__ENV.BASE.replace('http', 'ws')}/ws/echo`;
  try {
    ws.connect(url, {}, (socket) => {
      socket.on('open', () => {
        throw new Error('in a handler');
      });
      socket.on('close', (code) => console.log('close', code));
    });
  } catch (error) {
    console.log(String(error));
  }
  try {
    ws.connect(url, {}, (socket) => {
      socket.on('close', (code) => console.log('close', code));
      throw new Error('at once');
    });
  } catch (error) {
    console.log(String(error));
  }
}
