//! tls: valid http2
// Codings over HTTP/2.
import http from 'k6/http';

export default function () {
  for (const coding of ['gzip', 'deflate', 'brotli', 'zstd']) {
    const res = http.get(`${__ENV.TLS_BASE}/${coding}`);
    console.log(coding, res.status, res.proto, res.body.length > 0);
  }
}
