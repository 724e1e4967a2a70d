// An iteration may finish within gracefulStop.
import { sleep } from 'k6';

export const options = {
  scenarios: { a: { executor: 'constant-vus', vus: 1, duration: '1s', gracefulStop: '2s' } },
};

export default function () {
  sleep(1.5);
  console.log('finished');
}
