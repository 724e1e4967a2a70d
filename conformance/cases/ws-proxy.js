//! env: HTTP_PROXY=$PROXY
// k6/ws through a proxy: a tunnel also without TLS, because a proxy reads no WebSocket.
import ws from 'k6/ws';

export const options = { systemTags: ['status', 'subproto'] };

export default function () {
  const port = __ENV.BASE.split(':')[2];
  const response = ws.connect(`ws://tunnel.test:${port}/ws/headers`, (socket) => {
    socket.on('message', (text) => {
      const headers = JSON.parse(text);
      console.log(headers.host === `tunnel.test:${port}`, headers['proxy-authorization'], headers.upgrade);
      socket.close();
    });
  });
  console.log(response.status);
}
