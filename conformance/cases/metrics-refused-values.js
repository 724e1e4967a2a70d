// Values that are not numbers are refused and logged; the iteration goes on.
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
  attempt('undefined', () => counter.add());
  attempt('text', () => counter.add('abc'));
  attempt('object', () => counter.add({}));
  attempt('one', () => counter.add(1));
}
