//! args: --iterations 2
// noCookiesReset keeps the jar.
import http from 'k6/http';
import { sorted } from './fixtures/sorted.js';

export const options = { noCookiesReset: true };

export default function () {
  console.log(sorted(http.get(`${__ENV.BASE}/cookies`).json('cookies')));
  http.get(`${__ENV.BASE}/cookies/set?one=1`, { redirects: 0 });
}
