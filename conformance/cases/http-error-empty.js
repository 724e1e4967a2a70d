// The server closes without answering.
import http from 'k6/http';

export default function () {
  const res = http.post(`${__ENV.BASE}/empty`, 'body');
  console.log(res.status, res.error_code, res.error);
}
