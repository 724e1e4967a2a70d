// So many people, for so long: what `cargo xtask lab` compares, and what shows a fault best.
//
//   plimsoll lab up feed --variant cached --pin
//   plimsoll lab fault feed slow-downstream on
//   plimsoll run -e VUS=300 lab/feed/steady.js
//
// FEED is where it is, VUS how many people there are, DURATION how long they stay, GRACE how long is waited for the last.
import { login, read } from './journey.js';

export const options = {
  scenarios: {
    steady: {
      executor: 'constant-vus',
      vus: Number(__ENV.VUS || 300),
      duration: __ENV.DURATION || '20s',
      gracefulStop: __ENV.GRACE || '30s',
    },
  },
};

export const setup = login;
export default read;
