//! args: --iterations 2 --no-vu-connection-reuse
// noVUConnectionReuse: a connection for each iteration.
import http from 'k6/http';

export default function () {
  const first = http.get(`${__ENV.BASE}/status/200`).timings.connecting;
  const second = http.get(`${__ENV.BASE}/status/200`).timings.connecting;
  console.log(first > 0, second > 0);
}
