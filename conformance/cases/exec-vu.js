//! unordered
// k6/execution: the VU.
import exec from 'k6/execution';
import { sorted } from './fixtures/sorted.js';

export const options = {
  scenarios: { a: { executor: 'per-vu-iterations', vus: 2, iterations: 2 } },
};

export default function () {
  const v = exec.vu;
  console.log(v.idInInstance === __VU, v.idInTest === __VU, v.iterationInInstance === __ITER);
  console.log(v.iterationInScenario, sorted(v.tags), sorted(v.metrics.tags));
  console.log(sorted(v.metrics.metadata));
}
