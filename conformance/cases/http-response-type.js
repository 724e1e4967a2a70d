// responseType: text, binary, none.
import http from 'k6/http';

export default function () {
  const url = `${__ENV.BASE}/bytes/5`;
  const text = http.get(url);
  console.log(typeof text.body, text.body);
  const binary = http.get(url, { responseType: 'binary' });
  console.log(binary.body instanceof ArrayBuffer, binary.body.byteLength, new Uint8Array(binary.body).join());
  const none = http.get(url, { responseType: 'none' });
  console.log(none.body, none.status);
  const json = http.get(`${__ENV.BASE}/json`, { responseType: 'binary' });
  console.log(json.json('count'));
  try {
    http.get(url, { responseType: 'stream' });
    console.log('accepted');
  } catch (error) {
    console.log('refused');
  }
}
