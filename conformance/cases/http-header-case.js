// Response headers are in canonical case; several values are joined.
import http from 'k6/http';

export default function () {
  const res = http.get(`${__ENV.BASE}/response-headers?x-lower-case=a&X-UPPER=b&x-twice=1&x-twice=2`);
  console.log(res.headers['X-Lower-Case'], res.headers['x-lower-case'], res.headers['X-Upper'], res.headers['X-Twice']);
  console.log(res.headers['Content-Type'] !== undefined, res.headers['content-type']);
}
