// Spike test: does the shop recover from a sudden load?
//
// 50 visitors a second become 800 within a second, twice the pool's capacity, and then 50 again. The shop
// rejects requests beyond its queue limit, and should recover within seconds after the spike.
//
//   SHOP=http://127.0.0.1:8080 plimsoll run examples/spike.js

import http from 'k6/http';
import { check } from 'k6';
import { Rate, Trend } from 'k6/metrics';

const SHOP = __ENV.SHOP || 'http://127.0.0.1:8080';

const turnedAway = new Rate('turned_away');
const calmTime = new Trend('calm_time', true);

const visit = (exec, startTime, duration, rate, maxVUs) => ({
  executor: 'constant-arrival-rate',
  exec,
  startTime,
  duration,
  rate,
  timeUnit: '1s',
  preAllocatedVUs: Math.min(maxVUs, 500),
  maxVUs,
});

export const options = {
  scenarios: {
    before: visit('calm', '0s', '5s', 50, 20),
    rush: visit('rush', '5s', '5s', 800, 800),
    // Two seconds after the spike its queue has drained.
    after: visit('calm', '12s', '5s', 50, 20),
  },
  thresholds: {
    calm_time: ['p(95)<50'],
    'http_req_failed{scenario:before}': ['rate<0.01'],
    'http_req_failed{scenario:after}': ['rate<0.01'],
  },
};

function list() {
  return http.get(`${SHOP}/products`, { tags: { name: 'products' } });
}

export function calm() {
  const response = list();
  calmTime.add(response.timings.duration);
  check(response, { 'products are listed': (got) => got.status === 200 });
}

export function rush() {
  const response = list();
  turnedAway.add(response.status === 503);
  check(response, { 'served or politely refused': (got) => got.status === 200 || got.status === 503 });
}
