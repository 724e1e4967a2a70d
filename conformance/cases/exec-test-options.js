//! args: --vus 2 --iterations 2
//! unordered
// k6/execution: the consolidated options.
import exec from 'k6/execution';

export const options = { tags: { a: 'b' }, userAgent: 'mine', thresholds: { iterations: ['count>0'] } };

export default function () {
  const o = exec.test.options;
  console.log(JSON.stringify(o.scenarios));
  console.log(JSON.stringify(o.tags), o.userAgent, JSON.stringify(o.thresholds));
  console.log(o.vus, o.iterations, o.duration, o.stages, o.maxRedirects, o.setupTimeout, o.throw, o.noSetup);
  try {
    o.userAgent = 'changed';
    console.log('writable');
  } catch (error) {
    console.log('frozen', error.name);
  }
  console.log(Object.keys(o).sort().join());
}
