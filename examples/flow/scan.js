// Submit and poll: measures the time of a task from submission to result, and its outcome.
//
//   TARGET=http://127.0.0.1:8080 plimsoll run examples/flow/scan.js
//   TARGET=http://127.0.0.1:8080 k6 run examples/flow/scan.js       the same, without censored values: see anywhere.js
//
// Works with any API that accepts a task with POST /submit and returns its state at GET /poll/ID, such as
// `cargo run -p testkit -- serve --port 8080`.

import http from 'k6/http';
import { check } from 'k6';
import flow from './anywhere.js';

const TARGET = __ENV.TARGET || 'http://127.0.0.1:8080';

export const options = {
  scenarios: {
    // Tasks in progress at the end of the duration may finish.
    scans: { executor: 'constant-vus', vus: 20, duration: '30s', gracefulStop: '60s' },
  },
  thresholds: {
    flow_submit_duration: ['p(95)<500'],
    flow_poll_duration: ['p(95)<500'],
    flow_duration: ['p(95)<30000'],
    flow_finished: ['rate>0.99'],
    'flow_outcomes{outcome:done}': ['rate>0.9'],
  },
};

export default function () {
  const scan = flow.task({
    name: 'scan',
    // A task that takes from half a second to four and a half.
    submit: () => http.post(`${TARGET}/submit?ms=${500 + Math.floor(4000 * Math.random())}`).json('id'),
    poll: (id) => http.get(`${TARGET}/poll/${id}`, { tags: { name: 'poll' } }),
    done: (answer) => answer.json('state') === 'done' && 'done',
    interval: '1s',
    timeout: '60s',
    outcomes: ['done'],
  });
  check(scan, { 'the scan is done': (it) => it.finished });
}
