//! summary
// summaryTrendStats chooses the values; percentiles are interpolated.
import { Trend } from 'k6/metrics';
import { sorted } from './fixtures/sorted.js';

export const options = {
  summaryTrendStats: ['avg', 'min', 'med', 'max', 'p(90)', 'p(95)', 'p(99.9)', 'p(50)', 'p(0)', 'count'],
};

const trend = new Trend('numbers');
const few = new Trend('few');
const one = new Trend('one');

export default function () {
  for (let i = 1; i <= 100; i += 1) {
    trend.add(i);
  }
  [10, 20, 40].forEach((n) => few.add(n));
  one.add(7);
}

export function handleSummary(data) {
  return {
    stdout: ['numbers', 'few', 'one'].map((name) => `${name} ${sorted(data.metrics[name].values)}\n`).join(''),
  };
}
