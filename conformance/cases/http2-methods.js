//! tls: valid http2
// Methods and bodies over HTTP/2.
import http from 'k6/http';

export default function () {
  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD']) {
    const res = http.request(method, `${__ENV.TLS_BASE}/anything`, ['GET', 'HEAD'].includes(method) ? null : 'body');
    const seen = method === 'HEAD' ? {} : res.json();
    console.log(method, res.status, res.proto, seen.method, seen.data, seen.headers && seen.headers['content-length']);
  }
  const res = http.post(`${__ENV.TLS_BASE}/anything`, 'x'.repeat(300000));
  console.log(res.json().body_bytes);
  console.log(http.post(`${__ENV.TLS_BASE}/anything`).json().headers['content-length']);
}
