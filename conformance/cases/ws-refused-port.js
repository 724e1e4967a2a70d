// k6/ws: connection refused.
import ws from 'k6/ws';

export default function () {
  const response = ws.connect('ws://127.0.0.1:1/', {}, () => console.log('called'));
  console.log(response.status, response.error, response.url === '');
}
