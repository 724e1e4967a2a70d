//! tls: valid
// tlsVersion sets the newest version.
import http from 'k6/http';

export const options = { tlsVersion: { min: 'tls1.2', max: 'tls1.2' } };

export default function () {
  const res = http.get(`${__ENV.TLS_BASE}/status/200`);
  console.log(res.status, res.tls_version, res.tls_version === http.TLS_1_2);
}
