// setup() takes too long: 100.
import { sleep } from 'k6';

export const options = { setupTimeout: '500ms' };

export function setup() {
  sleep(5);
}

export default function () {
  console.log('iteration');
}

export function teardown() {
  console.log('teardown');
}
