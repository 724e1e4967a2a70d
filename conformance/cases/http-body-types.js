// Bodies: text, bytes, views, JSON text, numbers.
import http from 'k6/http';
import { echo } from './fixtures/echo.js';

const url = `${__ENV.BASE}/anything`;

function attempt(name, body) {
  try {
    const seen = echo(http.post(url, body));
    console.log(name, JSON.stringify(seen.body), seen.headers['content-type']);
  } catch (error) {
    console.log(name, 'refused');
  }
}

export default function () {
  attempt('text', '한국어');
  attempt('buffer', new Uint8Array([104, 105]).buffer);
  attempt('json', JSON.stringify({ a: [1, 2] }));
  attempt('null', null);
  attempt('undefined', undefined);
  attempt('empty', '');
  attempt('number', 12);
}
