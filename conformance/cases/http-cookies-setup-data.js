// Cookies that pass through setup()'s data have the host's field names.
import http from 'k6/http';
import { sorted } from './fixtures/sorted.js';

export function setup() {
  return http.get(`${__ENV.BASE}/cookies/set?one=1`, { redirects: 0 }).cookies;
}

export default function (data) {
  console.log(Object.keys(data).join(), Array.isArray(data.one), Object.keys(data.one[0]).sort().join());
  console.log(data.one[0].Value, data.one[0].value, data.one[0].Name);
  console.log(sorted(data.one[0]));
}
