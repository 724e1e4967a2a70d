// No free VU: the arrival is dropped.
import { sleep } from 'k6';

export const options = {
  scenarios: {
    a: {
      executor: 'ramping-arrival-rate',
      startRate: 10,
      stages: [{ duration: '1050ms', target: 10 }],
      preAllocatedVUs: 3,
      gracefulStop: '3s',
    },
  },
};

export default function () {
  sleep(2);
}
