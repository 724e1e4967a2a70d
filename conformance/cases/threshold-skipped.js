//! args: --no-thresholds
// Thresholds can be switched off.
import { Counter } from 'k6/metrics';

export const options = { thresholds: { my_counter: ['count<3'] } };

const counter = new Counter('my_counter');

export default function () {
  counter.add(3);
}
