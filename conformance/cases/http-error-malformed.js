// What comes is no HTTP.
import http from 'k6/http';

export default function () {
  const res = http.get(`${__ENV.BASE}/malformed`);
  console.log(res.status, res.error_code, res.body);
}
