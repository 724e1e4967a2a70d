// A body of 100 KB in each request.

import http from 'k6/http';

const BODY = 'x'.repeat(100 * 1024);

export const options = {
  scenarios: {
    busy: { executor: 'constant-vus', vus: Number(__ENV.VUS), duration: `${__ENV.SECONDS}s` },
  },
};

export default function () {
  http.post(__ENV.URL, BODY);
}
