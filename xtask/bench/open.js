// Requests at a fixed rate, independent of responses.

import http from 'k6/http';

export const options = {
  scenarios: {
    open: {
      executor: 'constant-arrival-rate',
      rate: Number(__ENV.RATE),
      timeUnit: '1s',
      duration: `${__ENV.SECONDS}s`,
      preAllocatedVUs: Number(__ENV.VUS),
      maxVUs: Number(__ENV.VUS),
    },
  },
  summaryTrendStats: ['med', 'p(99)', 'max'],
};

export default function () {
  http.get(__ENV.URL);
}
