// A refused connection: status 0, no exception, a warning.
import http from 'k6/http';

export default function () {
  const res = http.get('http://127.0.0.1:1/path');
  console.log(res.status, res.error_code, res.error, res.body, res.status_text);
  console.log(JSON.stringify(res.headers), res.proto, res.url, res.remote_port, res.timings.duration);
}
