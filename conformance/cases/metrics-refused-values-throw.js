//! args: --throw
// With the option `throw`, refused values throw.
import { Counter } from 'k6/metrics';

const counter = new Counter('picky');

function attempt(name, action) {
  try {
    console.log(name, action());
  } catch (error) {
    console.log(name, 'threw');
  }
}

export default function () {
  attempt('NaN', () => counter.add(NaN));
  attempt('null', () => counter.add(null));
  attempt('one', () => counter.add(1));
}
