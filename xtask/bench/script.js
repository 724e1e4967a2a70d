// What the bench compares clients with: two checks, the body read, default tags, one threshold.

import http from 'k6/http';
import { check } from 'k6';

export const options = {
  scenarios: {
    busy: { executor: 'constant-vus', vus: Number(__ENV.VUS), duration: `${__ENV.SECONDS}s` },
  },
  insecureSkipTLSVerify: true,
  thresholds: { http_req_failed: ['rate<0.01'] },
};

export default function () {
  const response = http.get(__ENV.URL);
  check(response, {
    'status is 200': (got) => got.status === 200,
    'body is there': (got) => got.body.length > 1000,
  });
}
