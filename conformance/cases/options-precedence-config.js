//! args: --config fixtures/config.json
// The script wins over the config file, which wins over the defaults.
import exec from 'k6/execution';

export const options = { maxRedirects: 5 };

export default function () {
  console.log(exec.test.options.maxRedirects, exec.test.options.userAgent, __ITER);
}
