//! tls: valid http2
// HTTP/2 where the handshake chooses it: the version in response and tags, headers, a status line without a wire form.
import http from 'k6/http';

export default function () {
  const res = http.get(`${__ENV.TLS_BASE}/status/201`);
  console.log(res.status, res.status_text, res.proto, res.tls_version, res.error, res.error_code);
  const echo = http.get(`${__ENV.TLS_BASE}/anything?a=b%20c`, { headers: { 'X-Foo': 'bär', Connection: 'keep-alive', Host: 'other.test' } });
  const seen = echo.json();
  console.log(echo.headers['Content-Type'], seen.args.a, seen.headers['x-foo'], seen.headers.connection, seen.headers.Host);
  const many = http.get(`${__ENV.TLS_BASE}/response-headers?X-A=1&X-A=2`);
  console.log(many.headers['X-A']);
}
