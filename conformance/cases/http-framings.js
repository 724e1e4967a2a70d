// Ways to frame a body.
import http from 'k6/http';

export default function () {
  for (const path of ['/chunked/3', '/close', '/http10', '/drip?bytes=5&ms=50', '/bytes/0', '/bytes/100000']) {
    const res = http.get(`${__ENV.BASE}${path}`);
    console.log(path, res.status, res.proto, res.body.length, res.error_code);
  }
}
