//! args: --iterations 2
// Cookies the server sets come back; the jar is empty again in the next iteration.
import http from 'k6/http';
import { sorted } from './fixtures/sorted.js';

export default function () {
  console.log(sorted(http.get(`${__ENV.BASE}/cookies`).json('cookies')));
  const res = http.get(`${__ENV.BASE}/cookies/set?one=1&two=2`, { redirects: 0 });
  console.log(res.cookies.one[0].value, Object.keys(res.cookies.one[0]).sort().join(), res.cookies.one.length);
  console.log(res.cookies.one[0].path, res.cookies.one[0].http_only, res.cookies.one[0].max_age, res.cookies.one[0].expires);
  console.log(sorted(http.get(`${__ENV.BASE}/cookies`).json('cookies')));
  const next = http.get(`${__ENV.BASE}/cookies`);
  console.log(sorted(next.cookies), sorted(next.request.cookies));
}
