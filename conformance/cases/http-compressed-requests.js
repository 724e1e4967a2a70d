// The compression param compresses the body and says so.
import http from 'k6/http';
import { echo } from './fixtures/echo.js';

export default function () {
  const body = 'x'.repeat(1000);
  for (const compression of ['gzip', 'deflate', 'br', 'zstd', 'gzip, deflate']) {
    const res = http.post(`${__ENV.BASE}/anything`, body, { compression });
    const { headers } = echo(res);
    console.log(compression, res.status, headers['content-encoding'], Number(headers['content-length']) < 200);
  }
  try {
    http.post(`${__ENV.BASE}/anything`, body, { compression: 'lzma' });
    console.log('accepted');
  } catch (error) {
    console.log('refused');
  }
}
