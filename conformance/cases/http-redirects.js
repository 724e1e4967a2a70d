// Redirects: every hop is a request; the URL is the last one.
import http from 'k6/http';

export default function () {
  const res = http.get(`${__ENV.BASE}/redirect/3`, { tags: { name: 'three' } });
  console.log(res.status, res.url.replace(__ENV.BASE, ''));
  const none = http.get(`${__ENV.BASE}/redirect/1`, { redirects: 0, tags: { name: 'none' } });
  console.log(none.status, none.headers.Location !== undefined, none.url.replace(__ENV.BASE, ''));
  const two = http.get(`${__ENV.BASE}/redirect/5`, { redirects: 2, tags: { name: 'two of five' } });
  console.log(two.status, two.url.replace(__ENV.BASE, ''));
}
