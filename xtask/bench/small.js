// A script of the usual size, for the memory that a VU takes.

import http from 'k6/http';
import { check, group, sleep } from 'k6';
import { Counter, Rate, Trend } from 'k6/metrics';

const listTime = new Trend('list_time', true);
const failures = new Rate('failures');
const visits = new Counter('visits');

export const options = {
  scenarios: {
    visitors: { executor: 'constant-vus', vus: Number(__ENV.VUS), duration: `${__ENV.SECONDS}s` },
  },
  thresholds: {
    http_req_failed: ['rate<0.01'],
    failures: ['rate<0.01'],
  },
};

const headers = { Accept: 'application/json', 'X-Client': 'bench' };

function pick(list) {
  return list[(__VU + __ITER) % list.length];
}

function list(url) {
  const response = http.get(url, { headers, tags: { name: 'list' } });
  listTime.add(response.timings.duration);
  return response;
}

export default function () {
  group('visit', () => {
    const response = list(__ENV.URL);
    const good = check(response, {
      'status is 200': (got) => got.status === 200,
      'has items': (got) => got.json('items').length > 0,
    });
    failures.add(!good);
    pick(response.json('items'));
  });
  visits.add(1);
  sleep(1);
}
