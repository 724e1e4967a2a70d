//! args: --iterations 20
// Many checks are rates; the same name adds up.
import { check } from 'k6';

export default function () {
  check(__ITER, { 'below 15': (n) => n < 15, 'is even': (n) => n % 2 === 0, 'always': true });
}
