// A whole response that passes through setup()'s data.
import http from 'k6/http';

export function setup() {
  return http.get(`${__ENV.BASE}/json`);
}

export default function (data) {
  console.log(Object.keys(data).sort().join(), data.status, typeof data.json, typeof data.body);
  console.log(Object.keys(data.timings).sort().join());
}
