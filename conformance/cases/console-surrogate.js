// Half a character, alone and inside, and symbols.
import http from 'k6/http';
export default function () {
  console.log('\ud800');
  console.log('a\udc00b', ['\ud83d']);
  console.log(Symbol('word'), Symbol());
  const res = http.post(`${__ENV.BASE}/anything`, 'a\ud800b');
  console.log(res.status, res.request.body.length, res.json('data').length);
}
