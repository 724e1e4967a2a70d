// The VU's jar: set, read, delete, clear.
import http from 'k6/http';
import { sorted } from './fixtures/sorted.js';

export default function () {
  const url = `${__ENV.BASE}/`;
  const seen = () => sorted(http.get(`${__ENV.BASE}/cookies`).json('cookies'));
  const jar = http.cookieJar();
  console.log(jar.set(url, 'plain', 'value'));
  jar.set(url, 'elsewhere', 'x', { path: '/other' });
  jar.set(url, 'secure', 'x', { secure: true });
  jar.set(url, 'old', 'x', { expires: 'Mon, 02 Jan 2006 15:04:05 GMT' });
  jar.set(url, 'aged', 'x', { max_age: 3600 });
  jar.set(url, 'foreign', 'x', { domain: 'example.com' });
  console.log(sorted(jar.cookiesForURL(url)), seen());
  jar.set(url, 'plain', 'again');
  console.log(sorted(jar.cookiesForURL(url).plain));
  jar.delete(url, 'plain');
  console.log(sorted(jar.cookiesForURL(url)), seen());
  jar.clear(url);
  console.log(sorted(jar.cookiesForURL(url)), seen());
}
