// A field of a response can be set, and a response can be made JSON.
import http from 'k6/http';

export default function () {
  const res = http.get(`${__ENV.BASE}/json`);
  res.status = 7;
  console.log(res.status, JSON.parse(JSON.stringify(res)).status, typeof JSON.parse(JSON.stringify(res)).timings.duration);
}
