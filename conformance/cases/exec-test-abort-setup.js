// test.abort() in setup: no iterations, no teardown.
import exec from 'k6/execution';

export function setup() {
  exec.test.abort('not today');
}

export default function () {
  console.log('iteration');
}

export function teardown() {
  console.log('teardown');
}
