// The load of a normal day: up to 300 people.
//
//   plimsoll lab up feed --variant cached --pin
//   plimsoll run lab/feed/load.js
//
// FEED is where it is, SHORTEN how many times as short as the post's 10 minutes.
import { begin, read, shortened } from './journey.js';

export const options = {
  stages: shortened([[150, 300], [300, 300], [150, 0]]),
  thresholds: { http_req_failed: ['rate<0.01'] },
};

export const setup = begin;
export default read;
