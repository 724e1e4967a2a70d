// delayAbortEval: the run is over before it may be aborted.
import { Counter } from 'k6/metrics';
import { sleep } from 'k6';

export const options = {
  vus: 1,
  iterations: 5,
  thresholds: { my_counter: [{ threshold: 'count<1', abortOnFail: true, delayAbortEval: '1m' }] },
};

const counter = new Counter('my_counter');

export default function () {
  counter.add(1);
  sleep(0.5);
}
