//! tls: valid http2
// A timeout ends the stream and not the connection.
import http from 'k6/http';

export default function () {
  const res = http.get(`${__ENV.TLS_BASE}/hang`, { timeout: '200ms' });
  console.log(res.status, res.error_code, res.error);
  console.log(http.get(`${__ENV.TLS_BASE}/status/200`).status);
  console.log(http.get(`${__ENV.TLS_BASE}/_testkit/seen`).json().connections);
}
