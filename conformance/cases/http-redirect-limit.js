// An endless redirect ends at maxRedirects with the last response.
import http from 'k6/http';

export const options = { maxRedirects: 4 };

export default function () {
  const res = http.get(`${__ENV.BASE}/redirect-loop`, { tags: { name: 'loop' } });
  console.log(res.status, res.error_code, JSON.stringify(res.error));
}
