// A typed array as a body.
import http from 'k6/http';
import { echo } from './fixtures/echo.js';

export default function () {
  try {
    const seen = echo(http.post(`${__ENV.BASE}/anything`, new Uint8Array([104, 105])));
    console.log(JSON.stringify(seen.body));
  } catch (error) {
    console.log('refused');
  }
}
