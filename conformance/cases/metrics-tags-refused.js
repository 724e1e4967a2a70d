// Tag values that are not scalars.
import { Counter } from 'k6/metrics';
import exec from 'k6/execution';

const counter = new Counter('tagged');

function attempt(name, action) {
  try {
    action();
    console.log(name, 'accepted');
  } catch (error) {
    console.log(name, 'refused');
  }
}

export default function () {
  attempt('object', () => counter.add(1, { bad: { a: 1 } }));
  attempt('null', () => counter.add(1, { bad: null }));
  attempt('undefined', () => counter.add(1, { bad: undefined }));
  attempt('vu tag object', () => {
    exec.vu.metrics.tags.bad = { a: 1 };
  });
  attempt('vu tag number', () => {
    exec.vu.metrics.tags.good = 1;
  });
  attempt('vu tag bool', () => {
    exec.vu.metrics.tags.good = true;
  });
}
