//! ignore: warned
// A stage of the shortcut that says no duration is left out.
import exec from 'k6/execution';
export const options = { stages: [{ target: 50 }, { duration: '300ms', target: 1 }, { target: 9 }] };
export default function () {
  if (__ITER === 0) console.log(__VU, JSON.stringify(exec.test.options.scenarios.default.stages));
  exec.test.abort();
}
