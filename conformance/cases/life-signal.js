//! signal: 1500
// One interrupt ends the run gracefully: 105, with teardown.
import { sleep } from 'k6';

export const options = { vus: 1, duration: '20s' };

export default function () {
  console.log('started');
  sleep(20);
}

export function teardown() {
  console.log('teardown');
}
