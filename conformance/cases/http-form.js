// An object as a body is a form.
import http from 'k6/http';
import { echo } from './fixtures/echo.js';
import { sorted } from './fixtures/sorted.js';

const url = `${__ENV.BASE}/anything`;

function show(form, params) {
  const seen = echo(http.post(url, form, params));
  console.log(seen.headers['content-type'], sorted(seen.form));
  const raw = echo(http.post(url, form, { headers: { 'Content-Type': 'application/x-raw' } }));
  console.log(JSON.stringify(raw.body));
}

export default function () {
  show({ a: '1', b: 'two words', c: 'ü&=+/' });
  show({ list: ['x', 'y'], n: 3, f: 1.5, t: true });
  show({ nothing: null, missing: undefined });
  show({});
}
