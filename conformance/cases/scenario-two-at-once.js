//! unordered
// Scenarios run beside each other with VUs of their own.
import { sleep } from 'k6';
import exec from 'k6/execution';

export const options = {
  scenarios: {
    a: { executor: 'per-vu-iterations', vus: 2, iterations: 1 },
    b: { executor: 'shared-iterations', vus: 1, iterations: 2 },
  },
};

export default function () {
  sleep(0.3);
  console.log(exec.scenario.name, exec.instance.vusInitialized);
}
