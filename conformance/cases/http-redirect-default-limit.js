// The default limit is 10.
import http from 'k6/http';

export default function () {
  const res = http.get(`${__ENV.BASE}/redirect-loop`, { tags: { name: 'loop' } });
  console.log(res.status, res.error_code);
}
