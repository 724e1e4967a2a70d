// The small script's load with two libraries that scripts like to bring, for the memory that a VU takes.

import http from 'k6/http';
import { check, sleep } from 'k6';
import _ from './lodash.min.js';
import moment from './moment.min.js';

export const options = {
  scenarios: {
    visitors: { executor: 'constant-vus', vus: Number(__ENV.VUS), duration: `${__ENV.SECONDS}s` },
  },
};

export default function () {
  const response = http.get(__ENV.URL);
  check(response, { 'status is 200': (got) => got.status === 200 });
  const ids = _.map(response.json('items'), 'id');
  check(ids, { 'ids are unique': (got) => _.uniq(got).length === got.length });
  check(moment([2026, 10, 21]), { 'it is a day': (got) => got.isValid() });
  sleep(1);
}
