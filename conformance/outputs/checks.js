// Checks and groups without HTTP; numbers that need every unit.
import { check, group } from 'k6';
import { Counter, Trend } from 'k6/metrics';

const bytes = new Counter('bytes_moved');
const times = new Trend('times', true);
const numbers = new Trend('numbers');

export const options = { iterations: 1, summaryTrendStats: ['avg', 'min', 'med', 'max', 'p(90)', 'p(99.9)', 'count'] };

export default function () {
  group('a group', () => {
    check(1, { 'always fine': true, 'never fine': false });
    group('한글 group', () => check(1, { 'deep check': true }));
  });
  for (let i = 0; i < 3; i += 1) {
    check(i, { 'fine once of three': (n) => n === 1 });
  }
  bytes.add(1234567);
  [0.0004, 0.05, 1.5, 999.99, 1000, 61000, 3723004.5].forEach((ms) => times.add(ms));
  [0, 0.1, 1 / 3, 2, 1000000, 123456789.123, -5].forEach((n) => numbers.add(n));
}
