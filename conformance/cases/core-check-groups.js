// The same check name in two groups is two checks.
import { check, group } from 'k6';

export default function () {
  check(1, { 'is one': (v) => v === 1 });
  group('first', () => check(1, { 'is one': (v) => v === 1 }));
  group('second', () => {
    check(2, { 'is one': (v) => v === 1 });
    group('inner', () => check(1, { 'is one': (v) => v === 1 }));
  });
}
