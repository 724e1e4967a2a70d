// Load for any stack of the gallery: VUS users request ROUTE of BASE for DURATION and pause PAUSE_MS between requests.
// `{n}` in ROUTE is a number from 1 to 2,000, different in each iteration.
import http from 'k6/http';
import { check, sleep } from 'k6';

const base = __ENV.BASE;
const [method, route] = (__ENV.ROUTE || 'GET /').split(' ');
const pauseS = Number(__ENV.PAUSE_MS || 0) / 1000;

export const options = { vus: Number(__ENV.VUS || 10), duration: __ENV.DURATION || '20s' };

export default function () {
  const path = route.replace('{n}', String(1 + Math.floor(Math.random() * 2000)));
  const response = http.request(method, base + path, null, { tags: { name: `${method} ${route}` } });
  check(response, { 'status is 200': (r) => r.status === 200 });
  if (pauseS > 0) {
    sleep(pauseS * (0.5 + Math.random()));
  }
}
