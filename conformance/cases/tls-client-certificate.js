//! tls: client-certificate
// tlsAuth gives the client's certificate to the hosts it names.
import http from 'k6/http';

export const options = {
  tlsAuth: [{ domains: ['localhost'], cert: open(__ENV.CLIENT_CERTIFICATE), key: open(__ENV.CLIENT_KEY) }],
};

export default function () {
  const res = http.get(`${__ENV.TLS_BASE}/status/200`);
  console.log(res.status, res.error_code);
}
