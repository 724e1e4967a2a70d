// Every method, by its function and by request().
import http from 'k6/http';
import { echo } from './fixtures/echo.js';

const url = `${__ENV.BASE}/anything`;

export default function () {
  for (const res of [
    http.get(url),
    http.post(url, 'body'),
    http.put(url, 'body'),
    http.patch(url, 'body'),
    http.del(url),
    http.del(url, 'body'),
    http.options(url, 'body'),
    http.request('GET', url),
    http.request('POST', url, 'body'),
    http.request('PURGE', url),
    http.request('get', url),
  ]) {
    const { method, body } = echo(res);
    console.log(res.status, method, JSON.stringify(body), res.request.method);
  }
  const head = http.head(url);
  console.log(head.status, JSON.stringify(head.body), head.request.method);
}
