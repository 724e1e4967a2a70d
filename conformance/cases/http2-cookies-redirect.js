//! tls: valid http2
// Cookies and redirects over HTTP/2.
import http from 'k6/http';

export default function () {
  const res = http.get(`${__ENV.TLS_BASE}/cookies/set/a/1`);
  console.log(res.status, res.url.endsWith('/cookies'), JSON.stringify(res.json().cookies));
  const three = http.get(`${__ENV.TLS_BASE}/redirect/3`);
  console.log(three.status, three.proto);
}
