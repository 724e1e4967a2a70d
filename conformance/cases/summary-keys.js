//! summary
//! args: --iterations 2
// What handleSummary() receives.
import { check, group } from 'k6';
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
import { sorted } from './fixtures/sorted.js';

export const options = {
  thresholds: {
    my_counter: ['count==2', 'count<100'],
    'my_trend{kind:a}': ['p(95)<1000'],
    'my_rate{none:none}': [],
  },
};

const counter = new Counter('my_counter');
const gauge = new Gauge('my_gauge');
const rate = new Rate('my_rate');
const trend = new Trend('my_trend');
const time = new Trend('my_time', true);

export function setup() {
  return { from: 'setup' };
}

export default function () {
  counter.add(1);
  gauge.add(5);
  rate.add(__ITER === 0);
  trend.add(10, { kind: 'a' });
  trend.add(20);
  time.add(3);
  check(1, { outside: true });
  group('g', () => {
    check(1, { inside: (v) => v === __ITER });
    group('h', () => check(1, { deep: true }));
  });
}

export function handleSummary(data) {
  const lines = [Object.keys(data).sort().join()];
  lines.push(sorted(data.root_group));
  lines.push(sorted(data.options), Object.keys(data.state).sort().join());
  lines.push(sorted(data.setup_data));
  for (const name of Object.keys(data.metrics).sort()) {
    const metric = data.metrics[name];
    lines.push(`${name}: ${metric.type} ${metric.contains} ${Object.keys(metric.values).sort().join()}`);
    if (metric.thresholds) {
      lines.push(`  ${sorted(metric.thresholds)}`);
    }
    if (name.startsWith('my_') && metric.type !== 'counter') {
      lines.push(`  ${sorted(metric.values)}`);
    }
  }
  return { stdout: `${lines.join('\n')}\n` };
}
