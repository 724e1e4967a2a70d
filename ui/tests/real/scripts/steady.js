// A run that goes on until it is stopped, for the tests of the live page.
import http from 'k6/http';
import exec from 'k6/execution';

export const options = {
  summaryTrendStats: ['avg', 'min', 'med', 'max', 'p(90)', 'p(95)', 'p(99)', 'count'],
  scenarios: { steady: { executor: 'constant-arrival-rate', rate: 40, duration: '60s', preAllocatedVUs: 5 } },
  thresholds: { http_reqs: ['count>0'], http_req_failed: ['rate<0.01'] },
};

export default function () {
  http.get(`${__ENV.TARGET}/json`);
  if (__ITER % 20 === 3) http.get(`${__ENV.TARGET}/status/500`);
  if (exec.scenario.iterationInTest % 40 === 0) console.warn(`iteration ${exec.scenario.iterationInTest} begins`);
}
