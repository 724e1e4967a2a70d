//! tls: self-signed
// k6/ws under insecureSkipTLSVerify.
import ws from 'k6/ws';

export const options = { insecureSkipTLSVerify: true };

export default function () {
  const response = ws.connect(`${__ENV.TLS_BASE.replace('https', 'wss')}/ws/echo`, (socket) => {
    socket.on('open', () => socket.close());
  });
  console.log(response.status);
}
