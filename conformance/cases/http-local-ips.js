//! args: --local-ips 127.0.0.5
// localIPs: where connections come from.
import http from 'k6/http';

export default function () {
  console.log(http.get(`${__ENV.BASE}/status/200`).status);
}
