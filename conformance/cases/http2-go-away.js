//! tls: valid http2
// A connection that the server ends has HTTP/2's own number of the reason, and the next request has another one.
import http from 'k6/http';

export default function () {
  for (const reason of [0, 2, 11]) {
    const res = http.get(`${__ENV.TLS_BASE}/go-away/${reason}`);
    console.log(reason, res.status, res.error_code, res.error);
  }
  console.log(http.get(`${__ENV.TLS_BASE}/status/200`).status);
}
