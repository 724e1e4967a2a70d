// Users send in a picture and poll until there is an answer: the seed's five hundred, in the seed's phases, as much faster as the
// system is.
//
//   plimsoll lab up scan --pin
//   plimsoll run lab/scan/polling.js
//
// SCAN is where it is (found by itself while the lab is up), VUS how many users there are. Sending in and polling stay within their
// limits; the answers do not.
import http from 'k6/http';
import { check, sleep } from 'k6';
import flow from 'plimsoll/flow';

const base = __ENV.SCAN;
const users = Number(__ENV.VUS || 500);

// One second here is ten of the seed. `setup` fails where the system thinks otherwise.
const TIME_SCALE = 10;
const seconds = (there) => `${(there * 1000) / TIME_SCALE}ms`;
const limit = (thereMs) => `p(95)<${thereMs / TIME_SCALE}`;

if (!base) {
  throw new Error('SCAN is not set: `plimsoll lab up scan` says what to set it to');
}

export const options = {
  scenarios: {
    scans: {
      executor: 'ramping-vus',
      startVUs: 0,
      stages: [
        { target: users, duration: seconds(30) },
        { target: users, duration: seconds(120) },
        { target: 0, duration: seconds(30) },
      ],
      // Scans that are under way may end, or the slow ones would be missing.
      gracefulRampDown: seconds(120),
      gracefulStop: seconds(120),
    },
  },
  thresholds: {
    flow_submit_duration: [limit(500)],
    flow_poll_duration: [limit(500)],
    flow_duration: [limit(30000)],
    flow_finished: ['rate>0.99'],
  },
};

export function setup() {
  const { timeScale } = http.get(`${base}/`, { tags: { name: 'about' } }).json();
  if (timeScale !== TIME_SCALE) {
    throw new Error(`the system is ${timeScale} times as fast as the seed, this script ${TIME_SCALE} times`);
  }
  console.log(`one second here is ${timeScale} seconds of the seed`);
}

export default function () {
  const scan = flow.task({
    name: 'scan',
    submit: () => http.post(`${base}/api/v1/scan`, null, { tags: { name: 'submit' } }).json('id'),
    poll: (id) => http.get(`${base}/api/v1/scan/${id}`, { tags: { name: 'poll' } }),
    done: (answer) => {
      const state = answer.json('state');
      return ['rewarded', 'unrewarded', 'failed'].includes(state) && state;
    },
    interval: seconds(2),
    timeout: seconds(300),
    outcomes: ['rewarded', 'unrewarded', 'failed'],
  });
  check(scan, { 'the scan is answered': (it) => it.finished && it.outcome !== 'failed' });
  // Each VU pauses after an answer; otherwise all would return at the same moment.
  sleep((Math.random() * 5) / TIME_SCALE);
}
