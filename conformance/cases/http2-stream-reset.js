//! tls: valid http2
// A stream that the server resets has HTTP/2's own number of the reason, and the connection goes on.
import http from 'k6/http';

export default function () {
  for (const reason of [2, 5, 8, 11, 13]) {
    const res = http.get(`${__ENV.TLS_BASE}/reset-stream/${reason}`);
    console.log(reason, res.status, res.error_code, res.error);
  }
  console.log(http.get(`${__ENV.TLS_BASE}/status/200`).status);
  console.log(http.get(`${__ENV.TLS_BASE}/_testkit/seen`).json().connections);
}
