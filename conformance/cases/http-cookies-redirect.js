// Cookies set by a redirect are sent with the next hop.
import http from 'k6/http';
import { sorted } from './fixtures/sorted.js';

export default function () {
  const res = http.get(`${__ENV.BASE}/cookies/set?one=1&two=2`);
  console.log(res.status, sorted(res.json('cookies')), sorted(Object.keys(res.cookies)));
  const gone = http.get(`${__ENV.BASE}/cookies/delete?one`);
  console.log(sorted(gone.json('cookies')));
}
