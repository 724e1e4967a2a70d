// The best-rated apps of each category and of all, at a rate that stays: what the database does for one list.
//
//   plimsoll lab up appstore --variant two-queries --pin
//   plimsoll run lab/appstore/ranking.js
//
// APPSTORE is where it is (found by itself while the lab is up), RATE the requests per second, HOLD for how long.
import http from 'k6/http';
import { check } from 'k6';

const base = __ENV.APPSTORE;
const rate = Number(__ENV.RATE || 20);
const hold = __ENV.HOLD || '30s';
const places = ['', '/PRODUCTIVITY', '/EDUCATION', '/FIELD'];

if (!base) {
  throw new Error('APPSTORE is not set: `plimsoll lab up appstore` says what to set it to');
}

export const options = {
  scenarios: {
    rankings: {
      executor: 'constant-arrival-rate', rate, timeUnit: '1s', duration: hold, preAllocatedVUs: 50, maxVUs: 200,
    },
  },
  thresholds: {
    http_req_duration: ['p(95)<800'],
    http_req_failed: ['rate==0'],
  },
};

export default function () {
  const place = places[Math.floor(Math.random() * places.length)];
  const response = http.get(`${base}/apps/first-page${place}?sort=rating`, { tags: { name: 'ranking' } });
  check(response, {
    'is answered': (r) => r.status === 200,
    'has ten apps': (r) => r.status === 200 && r.json('rating.apps.#') === 10,
  });
}
