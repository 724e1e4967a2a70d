// The first page of the app store, and of its categories, at a rate that grows and then stays.
//
//   plimsoll lab up appstore --variant two-queries --pin
//   plimsoll run lab/appstore/first-page.js
//
// APPSTORE is where it is (`plimsoll lab status` shows it), RATE the requests per second to stay at, HOLD for how long.
import http from 'k6/http';
import { check } from 'k6';

const base = __ENV.APPSTORE;
const rate = Number(__ENV.RATE || 20);
const hold = __ENV.HOLD || '60s';
const categories = ['PRODUCTIVITY', 'EDUCATION', 'FIELD'];

if (!base) {
  throw new Error('APPSTORE is not set: `plimsoll lab up appstore` says what to set it to');
}

export const options = {
  scenarios: {
    pages: {
      executor: 'ramping-arrival-rate',
      startRate: 1,
      timeUnit: '1s',
      preAllocatedVUs: 50,
      maxVUs: 200,
      stages: [
        { target: rate, duration: '5s' },
        { target: rate, duration: hold },
      ],
    },
  },
  // What counts as a success is both: fast, and without an error.
  thresholds: {
    http_req_duration: ['p(95)<800'],
    http_req_failed: ['rate==0'],
  },
};

export default function () {
  const isFirst = Math.random() < 0.5;
  const category = categories[Math.floor(Math.random() * categories.length)];
  const response = isFirst
    ? http.get(`${base}/apps/first-page`, { tags: { name: 'first page' } })
    : http.get(`${base}/apps/first-page/${category}`, { tags: { name: 'first page of a category' } });
  check(response, {
    'is answered': (r) => r.status === 200,
    'has four lists of apps': (r) => r.status === 200 && ['rating', 'downloads', 'newest', 'updated']
      .every((list) => r.json(`${list}.apps.#`) === 10),
  });
}
