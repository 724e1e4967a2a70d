// VUs come and go; each iteration takes longer than the run, so VUs started = iterations.
import { sleep } from 'k6';

export const options = {
  scenarios: {
    a: {
      executor: 'ramping-vus',
      startVUs: 1,
      stages: [{ duration: '0s', target: 2 }, { duration: '1s', target: 6 }, { duration: '300ms', target: 6 }],
      gracefulStop: '3s',
    },
  },
};

export default function () {
  sleep(2);
}
