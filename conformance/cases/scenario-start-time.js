// startTime delays a scenario.
import exec from 'k6/execution';

export const options = {
  scenarios: {
    second: { executor: 'shared-iterations', startTime: '500ms' },
    first: { executor: 'shared-iterations' },
  },
};

export default function () {
  const elapsed_ms = exec.instance.currentTestRunDuration;
  console.log(exec.scenario.name, elapsed_ms >= (exec.scenario.name === 'second' ? 499 : 0), elapsed_ms < 900);
}
