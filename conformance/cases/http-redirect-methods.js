// Which method and body a redirect keeps.
import http from 'k6/http';

export default function () {
  for (const status of [301, 302, 303, 307, 308]) {
    const to = encodeURIComponent(`${__ENV.BASE}/anything`);
    const url = `${__ENV.BASE}/redirect-to?url=${to}&status=${status}`;
    const res = http.post(url, 'body', { tags: { name: `${status}` }, headers: { 'X-Kept': 'yes' } });
    const { method, body, headers } = res.json();
    const names = Object.keys(headers).map((name) => name.toLowerCase());
    console.log(status, res.status, method, JSON.stringify(body), names.includes('x-kept'));
  }
}
