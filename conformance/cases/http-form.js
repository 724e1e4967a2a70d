// An object as a body is a form.
import http from 'k6/http';
import { echo } from './fixtures/echo.js';

const url = `${__ENV.BASE}/anything`;

function show(form, params) {
  const { headers, body } = echo(http.post(url, form, params));
  console.log(headers['content-type'], JSON.stringify(body.split('&').sort().join('&')));
}

export default function () {
  show({ a: '1', b: 'two words', c: 'ü&=+/' });
  show({ list: ['x', 'y'], n: 3, f: 1.5, t: true });
  show({ nothing: null, missing: undefined });
  show({});
  show({ a: '1' }, { headers: { 'Content-Type': 'application/x-custom' } });
}
