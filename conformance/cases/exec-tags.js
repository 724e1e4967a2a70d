// k6/execution: tags a script sets stay on the VU; system tags can be read.
import exec from 'k6/execution';
import { check } from 'k6';

export const options = { vus: 1, iterations: 2 };

export default function () {
  console.log(exec.vu.metrics.tags.mine);
  exec.vu.metrics.tags.mine = `set in ${__ITER}`;
  exec.vu.tags.old_spelling = 'also';
  exec.vu.metrics.metadata.trace = 'abc';
  check(1, { 'with tags': true });
  console.log(exec.vu.metrics.tags.mine, exec.vu.tags.scenario, Object.keys(exec.vu.tags).sort().join());
}
