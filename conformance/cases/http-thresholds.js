//! summary
// Thresholds on HTTP metrics and their sub-metrics.
import http from 'k6/http';
import { sorted } from './fixtures/sorted.js';

export const options = {
  iterations: 4,
  thresholds: {
    http_reqs: ['count==8'],
    http_req_failed: ['rate==0.5'],
    'http_req_failed{name:good}': ['rate<0.01'],
    'http_req_duration{expected_response:true}': ['p(95)<5000'],
    'http_reqs{status:500}': ['count==4'],
  },
};

export default function () {
  http.get(`${__ENV.BASE}/status/200`, { tags: { name: 'good' } });
  http.get(`${__ENV.BASE}/status/500`, { tags: { name: 'bad' } });
}

export function handleSummary(data) {
  const names = Object.keys(data.metrics).filter((name) => name.startsWith('http_')).sort();
  const failed = data.metrics.http_req_failed.values;
  return {
    stdout: `${names.join('\n')}\n${sorted(failed)}\n${sorted(data.metrics['http_reqs{status:500}'].thresholds)}\n`,
  };
}
