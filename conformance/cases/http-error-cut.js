// The body ends before its announced length.
import http from 'k6/http';

export default function () {
  const res = http.get(`${__ENV.BASE}/cut`);
  console.log(res.status, res.error_code, res.error, res.body);
}
