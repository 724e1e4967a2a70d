// A threshold on a metric without samples.
import { Counter, Trend } from 'k6/metrics';

export const options = {
  thresholds: { never: ['count>0'], never_trend: ['p(95)<1'], http_req_duration: ['p(95)<1'], 'http_reqs{a:b}': ['count>5'] },
};

new Counter('never');
new Trend('never_trend');

export default function () {}
