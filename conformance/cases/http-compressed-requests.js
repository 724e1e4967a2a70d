// The compression param compresses the body and says so.
import http from 'k6/http';

export default function () {
  const body = 'x'.repeat(1000);
  for (const compression of ['gzip', 'deflate', 'br', 'zstd', 'gzip, deflate']) {
    const res = http.post(`${__ENV.BASE}/anything`, body, { compression });
    const { headers } = res.json();
    const name = (wanted) => Object.keys(headers).find((key) => key.toLowerCase() === wanted);
    console.log(compression, res.status, headers[name('content-encoding')], Number(headers[name('content-length')]) < 200);
  }
  try {
    http.post(`${__ENV.BASE}/anything`, body, { compression: 'lzma' });
    console.log('accepted');
  } catch (error) {
    console.log('refused');
  }
}
