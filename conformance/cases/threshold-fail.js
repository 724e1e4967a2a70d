//! summary
// One crossed threshold: 99.
import { Counter } from 'k6/metrics';
import { sorted } from './fixtures/sorted.js';

export const options = { thresholds: { my_counter: ['count<3', 'count<100'] } };

const counter = new Counter('my_counter');

export default function () {
  counter.add(3);
}

export function handleSummary(data) {
  return { stdout: `${sorted(data.metrics.my_counter.thresholds)}\n` };
}
