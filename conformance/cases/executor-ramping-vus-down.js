// gracefulRampDown: 0 interrupts VUs as they leave.
import { sleep } from 'k6';

export const options = {
  scenarios: {
    a: {
      executor: 'ramping-vus',
      startVUs: 4,
      stages: [{ duration: '1s', target: 0 }],
      gracefulRampDown: '0s',
      gracefulStop: '0s',
    },
  },
};

export default function () {
  sleep(5);
}
