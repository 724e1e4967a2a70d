// A small shop with everything that a page has to show: groups, checks that fail, failures by status and by transport, requests
// that time out, logs, and thresholds of both kinds.
import http from 'k6/http';
import { check, group } from 'k6';
import exec from 'k6/execution';
import { Counter, Trend } from 'k6/metrics';

const items = new Counter('items_bought');
const basket = new Trend('basket_bytes');
const base = __ENV.TARGET;
const waitMs = __ENV.WAIT_MS;

export const options = {
  summaryTrendStats: ['avg', 'min', 'med', 'max', 'p(90)', 'p(95)', 'p(99)', 'count'],
  scenarios: {
    browse: { executor: 'constant-arrival-rate', rate: 25, duration: '30s', preAllocatedVUs: 10, exec: 'browse' },
    buy: { executor: 'constant-vus', vus: 2, duration: '30s', exec: 'buy' },
  },
  thresholds: {
    http_req_duration: ['p(95)<2000', 'avg<1'],
    http_req_failed: ['rate<0.001', 'rate<0.9'],
    'http_req_duration{name:search}': ['p(90)<5'],
    checks: ['rate>0.5'],
    items_bought: ['count>10'],
  },
};

export function browse() {
  const turn = exec.scenario.iterationInTest;
  group('front page', () => {
    const page = http.get(`${base}/html`, { tags: { name: 'front page' } });
    check(page, { 'status is 200': (response) => response.status === 200, 'page is tiny': (response) => response.body.length < 10 });
    group('pictures', () => http.get(`${base}/bytes/20000`, { tags: { name: 'picture' } }));
  });
  group('search', () => {
    const found = http.get(`${base}/delay/${waitMs}`, { tags: { name: 'search' } });
    check(found, { 'search answers': (response) => response.status === 200 });
    if (turn % 12 === 0) http.get(`${base}/status/503`, { tags: { name: 'suggest' } });
  });
  if (turn % 20 === 0) http.get(`${base}/reset`, { tags: { name: 'reset' } });
  if (turn % 100 === 50) http.get(`${base}/hang`, { tags: { name: 'hang' }, timeout: '150ms' });
  if (turn % 50 === 0) console.warn(`turn ${turn} of browse`);
}

export function buy() {
  group('checkout', () => {
    const paid = http.post(`${base}/delay/40`, 'x'.repeat(300), { tags: { name: 'pay' } });
    basket.add(paid.request.body.length);
    items.add(2);
    if (exec.scenario.iterationInTest % 100 === 0) console.log('a basket is paid for');
    if (exec.scenario.iterationInTest % 200 === 7) http.get('http://127.0.0.1:1/', { tags: { name: 'stock' } });
  });
}
