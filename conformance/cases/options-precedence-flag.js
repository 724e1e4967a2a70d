//! env: K6_ITERATIONS=3
//! env: K6_MAX_REDIRECTS=7
//! args: --iterations 2 --max-redirects 9
// A flag wins over the environment and the script.
import exec from 'k6/execution';

export const options = { iterations: 1, maxRedirects: 5 };

export default function () {
  console.log(__ITER, exec.test.options.maxRedirects);
}
