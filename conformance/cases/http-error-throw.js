//! says: refused
//! args: --iterations 2
// throw: an exception instead of a response.
import http from 'k6/http';

export default function () {
  if (__ITER === 0) {
    http.get('http://127.0.0.1:1/', { throw: true });
    console.log('never');
  }
  try {
    http.get('http://127.0.0.1:1/', { throw: true });
  } catch (error) {
    console.log('caught');
  }
  console.log(http.get(`${__ENV.BASE}/status/500`, { throw: true }).status);
}
