// abortOnFail ends the run early: 99, with teardown.
import { Counter } from 'k6/metrics';
import { sleep } from 'k6';

export const options = {
  vus: 1,
  duration: '20s',
  thresholds: { my_counter: [{ threshold: 'count<1', abortOnFail: true }] },
};

const counter = new Counter('my_counter');

export default function () {
  if (__ITER === 0) {
    counter.add(1);
    return;
  }
  sleep(20);
}

export function teardown() {
  console.log('teardown');
}
