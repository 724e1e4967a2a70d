// A name that does not exist.
import http from 'k6/http';

export default function () {
  const res = http.get('http://no-such-host.invalid/');
  console.log(res.status, res.error_code, res.body);
}
