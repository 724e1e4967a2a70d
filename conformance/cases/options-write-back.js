//! env: K6_USER_AGENT=from env
//! args: --vus 2 --iterations 2 --tag a=flag
//! unordered
// The consolidated values are written back into the exported object before a VU runs.
import { sorted } from './fixtures/sorted.js';

export const options = { userAgent: 'from script', maxRedirects: 3, tags: { a: 'script', b: 'script' } };

export default function () {
  console.log(options.userAgent, options.maxRedirects, sorted(options.tags), options.vus, options.iterations);
  console.log(sorted(options.scenarios));
}
