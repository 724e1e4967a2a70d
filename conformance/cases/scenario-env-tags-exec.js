//! args: -e SHARED=global -e OVER=global
//! unordered
// env, tags and exec of a scenario.
import { check } from 'k6';
import exec from 'k6/execution';

export const options = {
  tags: { level: 'run', kept: 'run' },
  scenarios: {
    browse: { executor: 'shared-iterations', exec: 'browse', env: { OVER: 'browse' }, tags: { level: 'scenario' } },
    buy: { executor: 'shared-iterations', exec: 'buy', env: { OVER: 'buy' } },
  },
};

export function browse() {
  check(1, { browse: true });
  console.log('browse', __ENV.SHARED, __ENV.OVER, exec.vu.metrics.tags.level, exec.vu.metrics.tags.kept);
}

export function buy() {
  check(1, { buy: true });
  console.log('buy', __ENV.SHARED, __ENV.OVER, exec.vu.metrics.tags.level);
}
