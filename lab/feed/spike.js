// All of a sudden 4200 people: more than the worker can serve, and each of them makes it slower.
//
//   plimsoll lab up feed --variant cached --pin
//   plimsoll run lab/feed/spike.js
//
// FEED is where it is, SHORTEN how many times as short as the post's 6 minutes 40 seconds.
import { begin, read, shortened } from './journey.js';

export const options = {
  stages: shortened([[10, 300], [60, 300], [10, 4200], [120, 4200], [10, 300], [180, 300], [10, 0]]),
  thresholds: { http_req_failed: ['rate<0.01'] },
};

export const setup = begin;
export default read;
