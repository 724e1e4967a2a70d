// No free VU: the arrival is dropped.
import { sleep } from 'k6';

export const options = {
  scenarios: {
    a: { executor: 'constant-arrival-rate', rate: 10, duration: '1050ms', preAllocatedVUs: 2, gracefulStop: '3s' },
  },
};

export default function () {
  sleep(2);
}
