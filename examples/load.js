// Load test: does the shop meet its SLO at its design load?
//
// Queries arrive at 200/s, half of the capacity of the demo's pool, independent of response times.
//
//   SHOP=http://127.0.0.1:8080 plimsoll run examples/load.js

import http from 'k6/http';
import { check } from 'k6';

const SHOP = __ENV.SHOP || 'http://127.0.0.1:8080';

export const options = {
  scenarios: {
    browsing: {
      executor: 'constant-arrival-rate',
      rate: 200,
      timeUnit: '1s',
      duration: '20s',
      preAllocatedVUs: 20,
      maxVUs: 100,
    },
  },
  thresholds: {
    http_req_failed: ['rate<0.01'],
    http_req_duration: ['p(95)<50', 'p(99)<100'],
    dropped_iterations: ['count<10'],
    checks: ['rate>0.99'],
  },
};

export default function () {
  const list = http.get(`${SHOP}/products?category=rope`, { tags: { name: 'products' } });
  check(list, { 'products are listed': (response) => response.status === 200 });
}
