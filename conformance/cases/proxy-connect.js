//! tls: valid
//! env: HTTPS_PROXY=$PROXY
// HTTPS through a proxy's tunnel: the server sees nothing of the proxy.
import http from 'k6/http';

export const options = { insecureSkipTLSVerify: true };

export default function () {
  const res = http.get(`https://tunnel.test:${__ENV.TLS_BASE.split(':')[2]}/anything`, { tags: { name: 'x' } });
  console.log(res.status, res.proto, res.json().headers['Proxy-Authorization'], res.error);
}
