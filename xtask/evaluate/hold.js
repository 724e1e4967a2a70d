// Requests whose service times are known: 5 ms and an exponential of 10 ms on average, from an open schedule.
import http from 'k6/http';

export const options = {
  discardResponseBodies: true,
  scenarios: {
    open: {
      executor: 'constant-arrival-rate',
      rate: Number(__ENV.RATE),
      duration: `${__ENV.SECONDS}s`,
      preAllocatedVUs: 50,
    },
  },
};

export default function () {
  const ms = 5 - 10 * Math.log(1 - Math.random());
  http.get(`${__ENV.URL}/?ms=${ms.toFixed(0)}`, { tags: { name: 'hold' } });
}
