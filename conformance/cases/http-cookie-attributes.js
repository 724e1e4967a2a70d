// The attributes of a cookie the server sets.
import http from 'k6/http';
import { sorted } from './fixtures/sorted.js';

export default function () {
  for (const text of [
    'plain=value', 'full=value; Path=/anything; HttpOnly; Max-Age=60', 'secure=value; Secure', 'quoted="a b"',
    'expired=value; Expires=Thu, 01 Jan 1970 00:00:01 GMT', 'dated=value; Expires=Fri, 01 Jan 2100 00:00:00 GMT; Path=/',
    'foreign=value; Domain=example.com', 'empty=', 'equals=a=b',
  ]) {
    const res = http.get(`${__ENV.BASE}/cookies/set-with?cookie=${encodeURIComponent(text)}`, { tags: { name: 'set' } });
    console.log(text, sorted(res.cookies));
  }
  console.log(sorted(http.get(`${__ENV.BASE}/cookies`).json('cookies')));
  console.log(sorted(http.get(`${__ENV.BASE}/anything`).json('headers.Cookie')));
}
