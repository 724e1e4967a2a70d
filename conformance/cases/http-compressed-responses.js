// Compressed responses are decompressed without being asked for.
import http from 'k6/http';

export default function () {
  for (const kind of ['gzip', 'deflate', 'brotli', 'zstd']) {
    const res = http.get(`${__ENV.BASE}/${kind}`);
    console.log(kind, res.status, res.headers['Content-Encoding'], typeof res.json());
  }
  const res = http.get(`${__ENV.BASE}/gzip`, { responseType: 'binary' });
  console.log(new Uint8Array(res.body)[0] !== 31);
}
