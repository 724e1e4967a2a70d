// teardown() takes too long: 101.
import { sleep } from 'k6';

export const options = { teardownTimeout: '500ms' };

export default function () {
  console.log('iteration');
}

export function teardown() {
  sleep(5);
}
