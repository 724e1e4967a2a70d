//! args: --vus 3
//! unordered
// Only vus: one iteration each.
import exec from 'k6/execution';

export default function () {
  console.log(exec.scenario.executor, exec.scenario.name);
}
