//! tls: valid http2
// noConnectionReuse opens a connection for each request, also over HTTP/2.
import http from 'k6/http';

export const options = { noConnectionReuse: true };

export default function () {
  for (let i = 0; i < 3; i++) {
    console.log(http.get(`${__ENV.TLS_BASE}/status/200`).proto);
  }
  console.log(http.get(`${__ENV.TLS_BASE}/_testkit/seen`).json().connections);
}
