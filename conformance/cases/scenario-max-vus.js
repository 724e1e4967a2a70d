// maxVUs: VUs are added while arrivals find none free.
import { sleep } from 'k6';

export const options = {
  scenarios: {
    a: {
      executor: 'constant-arrival-rate', rate: 5, duration: '1900ms', preAllocatedVUs: 1, maxVUs: 20, gracefulStop: '5s',
    },
  },
};

export default function () {
  sleep(3);
}
