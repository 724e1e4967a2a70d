//! tls: valid
// HTTPS with a certificate of a trusted authority.
import http from 'k6/http';

export default function () {
  const res = http.get(`${__ENV.TLS_BASE}/status/200`);
  console.log(res.status, res.proto, res.tls_version, res.tls_cipher_suite.startsWith('TLS_'), res.error_code);
  console.log(res.timings.tls_handshaking > 0, http.get(`${__ENV.TLS_BASE}/status/200`).timings.tls_handshaking);
  console.log(res.ocsp.status);
}
