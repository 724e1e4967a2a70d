//! env: K6_RPS=1000
//! env: K6_DNS=ttl=1m,select=first,policy=onlyIPv4
//! env: K6_MAX_REDIRECTS=3
//! env: K6_USER_AGENT=agent
//! env: K6_BATCH=7
//! env: K6_BATCH_PER_HOST=4
//! env: K6_INSECURE_SKIP_TLS_VERIFY=true
//! env: K6_THROW=true
//! env: K6_BLACKLIST_IPS=10.0.0.0/8
//! env: K6_BLOCK_HOSTNAMES=a.test,*.b.test
//! env: K6_NO_CONNECTION_REUSE=true
//! env: K6_NO_VU_CONNECTION_REUSE=true
//! env: K6_MIN_ITERATION_DURATION=10ms
//! env: K6_SUMMARY_TREND_STATS=avg,p(99)
//! env: K6_SUMMARY_TIME_UNIT=ms
//! env: K6_SYSTEM_TAGS=status,name
//! env: K6_TAGS=a:b,c:d
//! env: K6_NO_COOKIES_RESET=true
//! env: K6_DISCARD_RESPONSE_BODIES=true
//! env: K6_SETUP_TIMEOUT=11s
//! env: K6_TEARDOWN_TIMEOUT=12s
//! env: K6_NO_SETUP=true
//! env: K6_LOCAL_IPS=127.0.0.1
// What each variable sets.
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
