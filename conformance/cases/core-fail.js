//! args: --iterations 2
//! says: not good enough
// fail() ends its iteration only.
import { fail } from 'k6';

export default function () {
  if (__ITER === 0) {
    fail('not good enough');
  }
  console.log('iteration', __ITER);
}
