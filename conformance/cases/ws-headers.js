// k6/ws: headers, cookies and the sub-protocol of the handshake.
import ws from 'k6/ws';
import http from 'k6/http';

export default function () {
  const base = __ENV.BASE.replace('http', 'ws');
  function run(params) {
    const response = ws.connect(`${base}/ws/headers?cookie=seen%3Dyes`, params, (socket) => {
      socket.on('message', (text) => {
        const headers = JSON.parse(text);
        const names = ['cookie', 'x-own', 'user-agent', 'sec-websocket-protocol', 'sec-websocket-version', 'upgrade'];
        for (const name of names) {
          if (name !== 'user-agent' || headers[name] === 'me') console.log(name, headers[name]);
        }
        socket.close();
      });
    });
    console.log(response.headers['Sec-Websocket-Protocol']);
  }
  http.cookieJar().set(__ENV.BASE, 'from', 'jar');
  run({ headers: { 'X-Own': 'header', 'User-Agent': 'me', 'Sec-WebSocket-Protocol': 'one, two' } });
  const jar = new http.CookieJar();
  jar.set(__ENV.BASE, 'other', 'jar');
  run({ jar });
  console.log(JSON.stringify(jar.cookiesForURL(__ENV.BASE)));
}
