//! args: --iterations 3
// test.fail() marks the run as failed; it goes on.
import exec from 'k6/execution';

export default function () {
  if (__ITER === 1) {
    exec.test.fail('marked');
  }
  console.log('iteration', __ITER);
}
