//! tls: unknown-ca
// A certificate of an unknown authority.
import http from 'k6/http';

export default function () {
  const res = http.get(`${__ENV.TLS_BASE}/status/200`);
  console.log(res.status, res.error_code, res.body);
}
