// Stress test: at which load does the shop saturate?
//
// The arrival rate climbs from 100 to 600 queries a second in steps. Completed queries follow it up to the pool's
// capacity (400/s in the demo) and no further; beyond it response times grow without the shop's
// CPU being busy. The thresholds fail there on purpose.
//
//   SHOP=http://127.0.0.1:8080 plimsoll run examples/stress.js

import http from 'k6/http';
import { check } from 'k6';

const SHOP = __ENV.SHOP || 'http://127.0.0.1:8080';

export const options = {
  scenarios: {
    climbing: {
      executor: 'ramping-arrival-rate',
      startRate: 100,
      timeUnit: '1s',
      preAllocatedVUs: 100,
      maxVUs: 600,
      stages: [
        { duration: '5s', target: 100 },
        { duration: '2s', target: 300 },
        { duration: '5s', target: 300 },
        { duration: '2s', target: 450 },
        { duration: '5s', target: 450 },
        { duration: '2s', target: 600 },
        { duration: '5s', target: 600 },
      ],
    },
  },
  thresholds: {
    http_req_failed: ['rate<0.01'],
    http_req_duration: ['p(95)<300'],
  },
};

export default function () {
  const list = http.get(`${SHOP}/products`, { tags: { name: 'products' } });
  check(list, { 'products are listed': (response) => response.status === 200 });
}
