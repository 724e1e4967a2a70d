// What `plimsoll calibrate` runs: the cheapest request there is.
import http from 'k6/http';

const rate = Number(__ENV.RATE);
const vus = Number(__ENV.VUS);

export const options = {
  discardResponseBodies: true,
  scenarios: {
    calibrate: rate > 0
      ? {
        executor: 'constant-arrival-rate', rate, timeUnit: '1s', duration: __ENV.TIME,
        preAllocatedVUs: vus, maxVUs: vus, gracefulStop: '1s',
      }
      : { executor: 'constant-vus', vus, duration: __ENV.TIME, gracefulStop: '1s' },
  },
};

export default function () {
  http.get(__ENV.URL);
}
