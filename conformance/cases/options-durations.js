// Spellings of durations; a bare number is milliseconds.
import exec from 'k6/execution';

export const options = {
  setupTimeout: '1m30s',
  teardownTimeout: 2500,
  minIterationDuration: '0.5s',
  scenarios: {
    a: { executor: 'shared-iterations', maxDuration: '1h2m3s500ms', gracefulStop: '1d' },
  },
};

export default function () {
  const o = exec.test.options;
  console.log(o.setupTimeout, o.teardownTimeout, o.minIterationDuration);
  console.log(o.scenarios.a.maxDuration, o.scenarios.a.gracefulStop);
}
