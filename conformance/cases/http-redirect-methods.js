// Which method and body a redirect keeps.
import http from 'k6/http';
import { echo } from './fixtures/echo.js';

export default function () {
  for (const status of [301, 302, 303, 307, 308]) {
    const to = encodeURIComponent(`${__ENV.BASE}/anything`);
    const url = `${__ENV.BASE}/redirect-to?url=${to}&status=${status}`;
    const res = http.post(url, 'body', { tags: { name: `${status}` }, headers: { 'X-Kept': 'yes' } });
    const { method, body, headers } = echo(res);
    console.log(status, res.status, method, JSON.stringify(body), headers['x-kept']);
  }
}
