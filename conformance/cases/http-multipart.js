// http.file() makes a multipart form.
import http from 'k6/http';
import { echo } from './fixtures/echo.js';

const bytes = open('./fixtures/text.txt', 'b');

export default function () {
  const file = http.file(bytes, 'text.txt', 'text/x-test');
  console.log(file.filename, file.content_type, file.data.byteLength);
  const { headers, form } = echo(http.post(`${__ENV.BASE}/anything`, { file, field: 'value' }));
  console.log(headers['content-type'].split('=')[0], headers['content-type'].split('=')[1].length > 8, form.field);
  const raw = echo(http.post(`${__ENV.BASE}/anything`, { file, field: 'value' }, { headers: { 'Content-Type': 'text/raw' } }));
  const boundary = raw.body.split('\r\n')[0];
  const parts = raw.body.split(boundary).map((part) => part.trim()).filter((part) => part !== '' && part !== '--');
  console.log(parts.sort().join('\n---\n'));
  const unnamed = http.file('text');
  console.log(unnamed.filename.length > 0, unnamed.content_type, typeof unnamed.data);
}
