//! args: --iterations 2
// A shortcut at a higher level erases the scenarios below it.
import exec from 'k6/execution';

export const options = {
  scenarios: { a: { executor: 'per-vu-iterations', vus: 3, iterations: 3, exec: 'other' } },
};

export default function () {
  console.log('default', exec.scenario.name, exec.scenario.executor);
}

export function other() {
  console.log('other');
}
