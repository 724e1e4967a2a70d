// What the bench compares clients with, in a script that brings 134 KB of libraries and uses them.

import http from 'k6/http';
import { check } from 'k6';
import _ from './lodash.min.js';
import moment from './moment.min.js';

export const options = {
  scenarios: {
    busy: { executor: 'constant-vus', vus: Number(__ENV.VUS), duration: `${__ENV.SECONDS}s` },
  },
  thresholds: { http_req_failed: ['rate<0.01'] },
};

export default function () {
  const response = http.get(__ENV.URL);
  const ids = _.map(response.json('items'), 'id');
  check(response, {
    'status is 200': (got) => got.status === 200,
    'ids are unique': () => _.uniq(ids).length === ids.length,
  });
  check(moment([2026, 10, 21]), { 'it is a day': (got) => got.isValid() });
}
