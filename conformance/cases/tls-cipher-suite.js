//! tls: valid
// tlsCipherSuites and tlsVersion restrict the handshake, and the response says what was agreed on.
import http from 'k6/http';

export const options = {
  tlsCipherSuites: ['TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256'],
  tlsVersion: { min: http.TLS_1_2, max: http.TLS_1_2 },
};

export default function () {
  const res = http.get(`${__ENV.TLS_BASE}/status/200`);
  console.log(res.status, res.tls_version, res.tls_cipher_suite, JSON.stringify(res.ocsp));
}
