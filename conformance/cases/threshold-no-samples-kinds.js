//! summary
// Thresholds on metrics without samples.
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
import { sorted } from './fixtures/sorted.js';

export const options = {
  thresholds: {
    cc: ['count==0', 'count>0', 'rate==0'],
    gg: ['value==0', 'value>0'],
    rr: ['rate==0', 'rate>0.5'],
    tt: ['p(95)<1', 'p(95)>1', 'avg==0', 'min==0', 'max>0', 'med==0'],
  },
};

new Counter('cc');
new Gauge('gg');
new Rate('rr');
new Trend('tt');

export default function () {}

export function handleSummary(data) {
  return { stdout: ['cc', 'gg', 'rr', 'tt'].map((name) => `${name} ${sorted(data.metrics[name])}\n`).join('') };
}
