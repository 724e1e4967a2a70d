//! args: --execution-segment 0:1/2 --execution-segment-sequence 0,1/2,1
//! unordered
// Half of the work.
import exec from 'k6/execution';

export const options = {
  scenarios: {
    shared: { executor: 'shared-iterations', vus: 2, iterations: 9 },
    each: { executor: 'per-vu-iterations', vus: 4, iterations: 2 },
  },
};

export default function () {
  const in_each = exec.scenario.name === 'each';
  console.log(exec.scenario.name, in_each ? exec.vu.iterationInScenario : '');
}
