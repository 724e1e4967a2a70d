// More and more people, up to 1200, in steps that each stay a while.
//
//   plimsoll lab up feed --variant cached --pin
//   plimsoll run lab/feed/stress.js
//
// FEED is where it is, SHORTEN how many times as short as the post's 13 minutes.
import { begin, read, shortened } from './journey.js';

export const options = {
  stages: shortened([
    [40, 300], [103, 300], [40, 600], [103, 600], [40, 900], [103, 900], [40, 1200], [103, 1200], [208, 0],
  ]),
  thresholds: { http_req_failed: ['rate<0.01'] },
};

export const setup = begin;
export default read;
