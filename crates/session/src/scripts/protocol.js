import http from 'k6/http';
import { check, group, sleep } from 'k6';

// Where the test goes: plimsoll run -e BASE_URL=https://staging.example script.js
const BASE_URL = __ENV.BASE_URL || 'http://localhost:8080';

export const options = {
  scenarios: {
    // Visitors come at their own rate, however slow the answers get: 5 a second at first, 50 at the height.
    visitors: {
      executor: 'ramping-arrival-rate',
      startRate: 5,
      timeUnit: '1s',
      preAllocatedVUs: 50,
      maxVUs: 200,
      stages: [
        { duration: '30s', target: 50 },
        { duration: '1m', target: 50 },
        { duration: '10s', target: 0 },
      ],
    },
  },
  // The run fails (exit code 99) where these do not hold.
  thresholds: {
    http_req_failed: ['rate<0.01'],
    http_req_duration: ['p(95)<500'],
    checks: ['rate>0.99'],
  },
};

// Runs once, before the load. What it returns is handed to every iteration.
export function setup() {
  const response = http.get(`${BASE_URL}/`);
  if (response.status !== 200) {
    throw new Error(`${BASE_URL} is not ready: ${response.status} ${response.error}`);
  }
  return { startedAt: Date.now() };
}

export default function () {
  group('look around', () => {
    const responses = http.batch([
      ['GET', `${BASE_URL}/`],
      ['GET', `${BASE_URL}/news`, null, { tags: { page: 'news' } }],
    ]);
    for (const response of responses) {
      check(response, { 'the page is there': (r) => r.status === 200 });
    }
  });

  group('search', () => {
    const term = ['tea', 'cocoa', 'coffee'][Math.floor(Math.random() * 3)];
    // One name for all terms, so that they are one row of the summary.
    const response = http.get(http.url`${BASE_URL}/search?q=${term}`);
    check(response, { 'the search answers': (r) => r.status === 200 });
  });

  sleep(1 + Math.random());
}

// Runs once, after the load.
export function teardown(data) {
  console.log(`the test took ${Math.round((Date.now() - data.startedAt) / 1000)} s`);
}
