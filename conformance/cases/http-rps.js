//! args: --rps 10 --iterations 6
// rps limits the whole run.
import http from 'k6/http';

export function setup() {
  return Date.now();
}

export default function (started) {
  http.get(`${__ENV.BASE}/status/200`);
  if (__ITER === 5) {
    const elapsed_ms = Date.now() - started;
    console.log(elapsed_ms > 450 && elapsed_ms < 900);
  }
}
