//! args: --rps 1000 --dns ttl=1m,select=first --max-redirects 3 --user-agent agent --batch 7 --batch-per-host 4
//! args: --insecure-skip-tls-verify --throw --blacklist-ip 10.0.0.0/8 --block-hostnames a.test,*.b.test
//! args: --no-connection-reuse --no-vu-connection-reuse --min-iteration-duration 10ms --summary-trend-stats avg,p(99)
//! args: --summary-time-unit ms --system-tags status,name --tag a=b --tag c=d --discard-response-bodies --no-setup
// What each flag sets.
import exec from 'k6/execution';
import { sorted } from './fixtures/sorted.js';

export default function () {
  const options = exec.test.options;
  for (const name of Object.keys(options).sort()) {
    if (options[name] !== null && options[name] !== undefined) {
      console.log(name, sorted(options[name]));
    }
  }
}
