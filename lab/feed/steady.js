// So many people, for so long: what `cargo xtask lab` compares, and what shows a fault best.
//
//   plimsoll lab up feed --variant cached --pin
//   plimsoll lab fault feed slow-downstream on
//   plimsoll run -e VUS=300 lab/feed/steady.js
//
// FEED is where it is, VUS how many people there are, DURATION how long they stay, GRACE how long is waited for the last.
import exec from 'k6/execution';
import { sleep } from 'k6';
import { login, read } from './journey.js';

// How long an iteration thinks.
const thinkingS = 4;

export const options = {
  scenarios: {
    steady: {
      executor: 'constant-vus',
      vus: Number(__ENV.VUS || 300),
      duration: __ENV.DURATION || '20s',
      gracefulStop: __ENV.GRACE || '30s',
    },
  },
  // Pages apart from likes, which no cache answers.
  thresholds: { 'http_req_duration{method:GET}': [] },
};

export const setup = login;

// People who are there already are each somewhere else in their journey: those who begin at the same moment stay in step, and ask
// in waves that no crowd makes.
export default function (session) {
  if (exec.vu.iterationInScenario === 0) {
    sleep(thinkingS * Math.random());
  }
  read(session);
}
