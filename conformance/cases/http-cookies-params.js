// Cookies of one request, alone and beside the jar's.
import http from 'k6/http';
import { sorted } from './fixtures/sorted.js';

export default function () {
  const url = `${__ENV.BASE}/cookies`;
  const seen = (params) => {
    const cookies = http.get(url, params).json('cookies');
    console.log(sorted(cookies));
  };
  seen({ cookies: { a: '1', b: '2' } });
  seen({});
  const jar = http.cookieJar();
  jar.set(`${__ENV.BASE}/`, 'a', 'from jar');
  seen({ cookies: { a: { value: 'replaced', replace: true } } });
  seen({ cookies: { b: 'beside' } });
  const own = new http.CookieJar();
  own.set(`${__ENV.BASE}/`, 'own', 'jar');
  seen({ jar: own });
  seen({ headers: { Cookie: 'header=1' } });
}
