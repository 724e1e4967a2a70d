//! tls: valid
//! env: HTTPS_PROXY=$PROXY
// k6/ws over TLS through a proxy.
import ws from 'k6/ws';

export const options = { insecureSkipTLSVerify: true, systemTags: ['status', 'subproto'] };

export default function () {
  const port = __ENV.TLS_BASE.split(':')[2];
  const response = ws.connect(`wss://tunnel.test:${port}/ws/echo`, (socket) => {
    socket.on('open', () => socket.send('hello'));
    socket.on('message', (text) => {
      console.log(text);
      socket.close();
    });
  });
  console.log(response.status);
}
