// A VU that serves a second scenario goes on counting its iterations.
import exec from 'k6/execution';

export const options = {
  scenarios: {
    a: { executor: 'per-vu-iterations', vus: 1, iterations: 2, gracefulStop: '0s', maxDuration: '1s' },
    b: { executor: 'per-vu-iterations', vus: 1, iterations: 2, startTime: '1s', tags: { phase: 'second' } },
  },
};

let calls = 0;

export default function () {
  calls += 1;
  const v = exec.vu;
  console.log(exec.scenario.name, v.idInTest, v.iterationInInstance, v.iterationInScenario, __ITER, calls);
  console.log(v.tags.phase);
}
