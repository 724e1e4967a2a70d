//! tls: valid http2
//! env: GODEBUG=http2client=0
// HTTP/2 turned off as k6's users do.
import http from 'k6/http';

export default function () {
  console.log(http.get(`${__ENV.TLS_BASE}/status/200`).proto);
}
