// HTTPS to a port that speaks plain HTTP.
import http from 'k6/http';

export default function () {
  const res = http.get(`${__ENV.BASE.replace('http:', 'https:')}/status/200`, { tags: { name: 'x' } });
  console.log(res.status, res.error_code, res.body);
}
