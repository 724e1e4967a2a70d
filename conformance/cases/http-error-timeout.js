// The answer does not come in time.
import http from 'k6/http';

export default function () {
  const res = http.get(`${__ENV.BASE}/hang`, { timeout: 300 });
  console.log(res.status, res.error_code, res.error, res.timings.duration >= 290);
  const text = http.get(`${__ENV.BASE}/hang`, { timeout: '250ms' });
  console.log(text.status, text.error_code);
}
