//! tls: unknown-ca
// insecureSkipTLSVerify accepts any certificate.
import http from 'k6/http';

export const options = { insecureSkipTLSVerify: true };

export default function () {
  const res = http.get(`${__ENV.TLS_BASE}/status/200`);
  console.log(res.status, res.error_code, res.tls_version);
}
