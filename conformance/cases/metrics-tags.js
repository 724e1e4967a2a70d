// Tags of custom metrics: scenario, group, VU tags, own tags on top.
import { Counter } from 'k6/metrics';
import { group } from 'k6';
import exec from 'k6/execution';

export const options = { tags: { run: 'one', both: 'run' } };

const counter = new Counter('tagged');

export default function () {
  counter.add(1);
  counter.add(1, { both: 'own' });
  group('g', () => counter.add(1, { run: 'replaced' }));
  exec.vu.metrics.tags.extra = 'vu';
  counter.add(1);
  delete exec.vu.metrics.tags.extra;
  counter.add(1, { nothing: '' });
}
