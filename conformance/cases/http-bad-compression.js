// A body that does not decompress.
import http from 'k6/http';

export default function () {
  const res = http.get(`${__ENV.BASE}/bad-gzip`);
  console.log(res.status, res.error_code, res.error !== '', res.body);
}
