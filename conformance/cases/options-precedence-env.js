//! env: K6_ITERATIONS=3
//! env: K6_MAX_REDIRECTS=7
// The environment wins over the script.
import exec from 'k6/execution';

export const options = { iterations: 1, maxRedirects: 5, userAgent: 'script' };

export default function () {
  console.log(__ITER, exec.test.options.maxRedirects, exec.test.options.userAgent);
}
