// An iteration that outlives gracefulStop is interrupted and not counted.
import { sleep } from 'k6';

export const options = {
  scenarios: { a: { executor: 'constant-vus', vus: 1, duration: '1s', gracefulStop: '500ms' } },
};

export default function () {
  console.log('started');
  sleep(10);
}

export function teardown() {
  console.log('teardown');
}
