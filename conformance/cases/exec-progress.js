// scenario.progress runs from 0 to 1.
import exec from 'k6/execution';

export const options = { scenarios: { a: { executor: 'shared-iterations', vus: 1, iterations: 4 } } };

export default function () {
  console.log(exec.scenario.progress);
}
