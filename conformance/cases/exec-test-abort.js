//! args: --iterations 5
//! says: enough
// test.abort() ends the run: 108, with teardown.
import exec from 'k6/execution';

export function setup() {
  return 7;
}

export default function () {
  if (__ITER === 2) {
    exec.test.abort('enough');
  }
  console.log('iteration', __ITER);
}

export function teardown(data) {
  console.log('teardown', data);
}
