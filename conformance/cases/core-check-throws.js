//! says: broken check
// An exception in a check is a failed check and ends the iteration.
import { check } from 'k6';

export default function () {
  check(1, {
    'throws': () => {
      throw new Error('broken check');
    },
  });
  console.log('never reached');
}
