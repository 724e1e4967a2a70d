// A fixed number of requests of each VU, one after the other, for counting instructions and cache misses.

import http from 'k6/http';
import { check } from 'k6';

export const options = {
  scenarios: {
    count: {
      executor: 'per-vu-iterations',
      vus: Number(__ENV.VUS),
      iterations: Number(__ENV.REQUESTS),
      maxDuration: '5m',
    },
  },
  thresholds: { http_req_failed: ['rate<0.01'] },
};

export default function () {
  const response = http.get(__ENV.URL);
  check(response, {
    'status is 200': (got) => got.status === 200,
    'body is there': (got) => got.body.length > 1000,
  });
}
