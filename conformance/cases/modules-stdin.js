//! stdin
// A script from standard input.
import { check } from 'k6';

export default function () {
  check(1, { 'from stdin': (v) => v === 1 });
  console.log('ran');
}
