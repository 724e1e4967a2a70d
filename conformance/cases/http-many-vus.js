//! args: --vus 10 --iterations 200
// Nothing is lost when many send.
import http from 'k6/http';
import { check } from 'k6';

export default function () {
  const res = http.get(`${__ENV.BASE}/`);
  check(res, { 'status is 200': (r) => r.status === 200, 'has items': (r) => r.json('items.#') === 10 });
}
