//! env: HTTP_PROXY=http://127.0.0.1:1
//! env: HTTPS_PROXY=http://127.0.0.1:1
// A proxy that cannot be reached.
import http from 'k6/http';

export default function () {
  for (const url of ['http://proxied.test/', 'https://proxied.test/']) {
    const res = http.get(url);
    console.log(res.status, res.error_code, res.error);
  }
}
