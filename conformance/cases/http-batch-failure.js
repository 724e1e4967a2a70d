// One request of a batch fails: the others have their responses.
import http from 'k6/http';

export default function () {
  const responses = http.batch([`${__ENV.BASE}/status/200`, 'http://127.0.0.1:1/', `${__ENV.BASE}/status/202`]);
  responses.forEach((res) => console.log(res.status, res.error_code));
}
