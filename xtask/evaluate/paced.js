// Requests by plan: what a generator that cannot keep its plan does to it shows as lateness and drops.
import http from 'k6/http';

export const options = {
  noConnectionReuse: __ENV.FRESH === 'true',
  scenarios: {
    paced: {
      executor: 'constant-arrival-rate',
      rate: 100,
      timeUnit: '1s',
      duration: `${__ENV.SECONDS}s`,
      preAllocatedVUs: 30,
      gracefulStop: '1s',
    },
  },
};

export default function () {
  http.get(`${__ENV.URL}/?ms=${__ENV.FRESH === 'true' ? 500 : 10}`, { timeout: '3s' });
}
