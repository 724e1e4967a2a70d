// k6/ws: handshakes that come to nothing.
import ws from 'k6/ws';

export default function () {
  const base = __ENV.BASE.replace('http', 'ws');
  for (const path of ['/status/403', '/', '/redirect/1', '/ws/echo?accept=no']) {
    const response = ws.connect(base + path, {}, () => console.log('called'));
    console.log(path, response.status, response.error === '', response.body.length, response.url === '');
  }
}
