//! tls: valid
// k6/ws over TLS.
import ws from 'k6/ws';

export default function () {
  const url = `${__ENV.TLS_BASE.replace('https', 'wss')}/ws/echo`;
  const response = ws.connect(url, (socket) => {
    socket.on('open', () => socket.send('hello'));
    socket.on('message', (text) => {
      console.log(text);
      socket.close();
    });
    socket.on('close', (code) => console.log('close', code));
  });
  console.log(response.status, response.url === url, response.headers.Upgrade);
}
