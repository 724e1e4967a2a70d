// The server resets the connection instead of answering.
import http from 'k6/http';

export default function () {
  const res = http.post(`${__ENV.BASE}/reset`, 'body');
  console.log(res.status, res.error_code);
}
