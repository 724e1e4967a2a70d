// k6/execution: the scenario.
//! unordered
import exec from 'k6/execution';

export const options = {
  scenarios: {
    shop: { executor: 'shared-iterations', vus: 1, iterations: 3 },
    late: { executor: 'per-vu-iterations', vus: 1, iterations: 1, startTime: '1s', exec: 'late' },
  },
};

export default function () {
  const s = exec.scenario;
  console.log(s.name, s.executor, s.iterationInInstance, s.iterationInTest, s.progress >= 0 && s.progress <= 1);
  console.log(Math.abs(Date.now() - s.startTime) < 900, Number.isInteger(s.startTime));
}

export function late() {
  const s = exec.scenario;
  console.log(s.name, s.executor, s.iterationInInstance, Math.abs(Date.now() - s.startTime) < 500);
}
