//! summary
// Sub-metrics: exact tag filters, several tags, system tags, the empty list.
import { Counter, Trend } from 'k6/metrics';
import { group, check } from 'k6';
import { sorted } from './fixtures/sorted.js';

export const options = {
  thresholds: {
    'my_counter{kind:a}': ['count==1'],
    'my_counter{kind:a,size:big}': ['count==1'],
    'my_counter{kind:b}': ['count==2'],
    'my_counter{kind:none}': ['count<1'],
    'my_trend{group:::g}': ['max==2'],
    'checks{check:is fine}': ['rate==1'],
    'my_trend{scenario:default}': [],
    'iterations{scenario:default}': ['count==1'],
  },
};

const counter = new Counter('my_counter');
const trend = new Trend('my_trend');

export default function () {
  counter.add(1, { kind: 'a', size: 'big' });
  counter.add(2, { kind: 'b', size: 'big' });
  trend.add(1);
  group('g', () => trend.add(2));
  check(1, { 'is fine': true, 'is not': false });
}

export function handleSummary(data) {
  const names = Object.keys(data.metrics).filter((name) => name.includes('{')).sort();
  return {
    stdout: names
      .map((name) => {
        const { type, thresholds, values } = data.metrics[name];
        delete values.rate;
        return `${name} ${type} ${sorted(thresholds)} ${sorted(values)}\n`;
      })
      .join(''),
  };
}
