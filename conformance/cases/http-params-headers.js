// Request headers: own ones, overridden defaults, Host, numbers.
import http from 'k6/http';
import { echo } from './fixtures/echo.js';

const url = `${__ENV.BASE}/anything`;

export const options = { userAgent: 'conformance/1' };

export default function () {
  let { headers } = echo(http.get(url, { headers: { 'X-One': 'first', 'x-two': 'second', 'X-Number': 3 } }));
  console.log(headers['x-one'], headers['x-two'], headers['x-number'], headers['user-agent']);
  ({ headers } = echo(http.get(url, { headers: { 'User-Agent': 'mine', Host: 'shop.test' } })));
  console.log(headers['user-agent'], headers.host);
  ({ headers } = echo(http.get(url)));
  console.log(headers['accept-encoding'], headers.accept, headers['content-type'], headers['content-length'], headers.connection);
  ({ headers } = echo(http.post(url, 'text')));
  console.log(headers['content-type'], headers['content-length']);
  ({ headers } = echo(http.post(url, 'text', { headers: { 'Content-Type': 'text/plain' } })));
  console.log(headers['content-type']);
  ({ headers } = echo(http.post(url)));
  console.log(headers['content-length'], headers['content-type']);
}
