// Five VUs measure a server while a sixth may compute. URL: a hold server; COMPUTES: yes or no.
import http from 'k6/http';
import { sleep } from 'k6';
import { Trend } from 'k6/metrics';

const held = new Trend('held', true);
const scenario = (exec, vus) => ({ executor: 'constant-vus', duration: `${__ENV.SECONDS}s`, exec, vus });

export const options = {
  summaryTrendStats: ['p(95)', 'p(99)', 'count'],
  scenarios: {
    asking: scenario('ask', Number(__ENV.VUS)),
    ...(__ENV.COMPUTES === 'yes' ? { computing: scenario('compute', 1) } : {}),
  },
};

export function ask() {
  const response = http.get(`${__ENV.URL}/?ms=5.5`);
  held.add(response.headers['X-Hold-Ns'] / 1e6);
}

export function compute() {
  const end = Date.now() + 50;
  while (Date.now() < end) {}
  sleep(0.005);
}
