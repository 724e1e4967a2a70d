//! env: HTTPS_PROXY=$PROXY
// A proxy that does not know CONNECT: what it says is the error.
import http from 'k6/http';

export default function () {
  const res = http.get('https://proxied.test/');
  console.log(res.status, res.error_code, res.error);
}
