//! tls: valid http2
// A batch after a first request: all of it over the one connection.
import http from 'k6/http';

export const options = { batch: 20, batchPerHost: 20 };

export default function () {
  http.get(`${__ENV.TLS_BASE}/status/200`);
  const all = http.batch(Array(20).fill(['GET', `${__ENV.TLS_BASE}/bytes/1000`]));
  console.log(all.every((res) => res.status === 200 && res.proto === 'HTTP/2.0' && res.body.length === 1000));
  console.log(all.every((res) => res.timings.connecting === 0 && res.timings.tls_handshaking === 0));
  console.log(http.get(`${__ENV.TLS_BASE}/_testkit/seen`).json().connections);
}
