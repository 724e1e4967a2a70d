// Two scenarios with groups, checks that pass and fail, thresholds that pass and fail, and custom metrics.
import http from 'k6/http';
import { check, group } from 'k6';
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';

export const options = {
  tags: { run: 'golden' },
  scenarios: {
    browse: { executor: 'per-vu-iterations', vus: 2, iterations: 2, exec: 'browse' },
    // Later, so that checks are always seen in the same order.
    buy: { executor: 'shared-iterations', iterations: 3, exec: 'buy', startTime: '200ms', tags: { kind: 'write' } },
  },
  thresholds: {
    http_req_failed: ['rate<0.01'],
    'http_req_duration{name:home}': ['p(95)<5000', 'avg<5000'],
    'http_reqs{scenario:buy}': ['count==3'],
    items: ['count>=40'],
    basket: ['p(90)<100'],
    checks: ['rate>0.5'],
  },
};

const items = new Counter('items');
const level = new Gauge('level');
const bought = new Rate('bought');
const basket = new Trend('basket');
const thinking = new Trend('thinking', true);

export function setup() {
  return { token: 'abc' };
}

export function browse(data) {
  group('home', () => {
    const res = http.get(`${__ENV.BASE}/`, { tags: { name: 'home' } });
    check(res, { 'status is 200': (r) => r.status === 200, 'has a token': () => data.token === 'xyz' });
    items.add(res.json('items.#'));
    group('details', () => {
      check(http.get(`${__ENV.BASE}/json`), { 'three in the list': (r) => r.json('list.#') === 3 });
    });
  });
  thinking.add(1500);
}

export function buy() {
  const res = http.post(`${__ENV.BASE}/status/${__ITER === 2 ? 503 : 201}`, 'x', { tags: { name: 'buy' } });
  bought.add(check(res, { 'was bought': (r) => r.status === 201 }));
  basket.add(10 * (__ITER + 1));
  level.add(__ITER);
}
