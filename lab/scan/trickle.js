// So few users that no queue needs more workers than there may be: what the faults of the scanner show in.
//
//   plimsoll lab fault scan prefetch-too-small on
//   plimsoll run lab/scan/trickle.js
//
// SCAN is where it is, VUS how many users there are, DURATION how long they stay.
import http from 'k6/http';
import { check } from 'k6';
import flow from 'plimsoll/flow';

const base = __ENV.SCAN;

if (!base) {
  throw new Error('SCAN is not set: `plimsoll lab up scan` says what to set it to');
}

export const options = {
  scenarios: {
    scans: {
      executor: 'constant-vus',
      vus: Number(__ENV.VUS || 24),
      duration: __ENV.DURATION || '30s',
      gracefulStop: '30s',
    },
  },
  thresholds: {
    flow_duration: ['p(95)<3000'],
    flow_finished: ['rate>0.99'],
    'flow_outcomes{outcome:failed}': ['rate==0'],
  },
};

export default function () {
  const scan = flow.task({
    name: 'scan',
    submit: () => http.post(`${base}/api/v1/scan`, null, { tags: { name: 'submit' } }).json('id'),
    poll: (id) => http.get(`${base}/api/v1/scan/${id}`, { tags: { name: 'poll' } }),
    done: (answer) => {
      const state = answer.json('state');
      return ['rewarded', 'unrewarded', 'failed'].includes(state) && state;
    },
    interval: '100ms',
    timeout: '30s',
    outcomes: ['rewarded', 'unrewarded', 'failed'],
  });
  check(scan, { 'the scan is answered': (it) => it.finished && it.outcome !== 'failed' });
}
