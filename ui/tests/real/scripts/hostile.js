// Names that break what prints them: of requests, groups, checks, tags, messages and errors.
import http from 'k6/http';
import { check, group } from 'k6';
import { Counter } from 'k6/metrics';

const count = new Counter('count');
const names = [
  '</script><script>alert(1);window.__hacked=1</script>',
  '<img src=x onerror=alert(1)>',
  '"><svg onload=alert(1)>',
  'javascript:alert(1)',
  '{{constructor.constructor("alert(1)")()}}',
  '\u001b[2J\u001b]0;x\u0007',
  '=cmd()|calc',
  '| a | b |',
  '"quoted" \'and\' `more`',
  'line\nbreak\r\n::error::x',
  ']]>',
  '<!--',
  '%0A',
  'x'.repeat(1 << 20),
  '\u202eoverride',
];

export const options = {
  scenarios: { default: { executor: 'per-vu-iterations', vus: 1, iterations: 3 } },
  thresholds: {
    'count{n:=cmd()|calc}': ['count<0'],
    'http_req_duration{name:<img src=x onerror=alert(1)>}': ['p(95)<0'],
    http_req_failed: ['rate<0.0001'],
  },
};

export default function () {
  for (const name of names) {
    count.add(1, { n: name });
    check(0, { [name]: () => false }, { t: name });
    console.error(name);
    group(name.replaceAll('::', ';'), () => {
      count.add(1);
      http.get(`${__ENV.TARGET}/json`, { tags: { name } });
      http.get(`${__ENV.TARGET}/status/500?q=${encodeURIComponent(name.slice(0, 200))}`, { tags: { name: `failing ${name}` } });
      http.get(`${__ENV.TARGET}/reset`, { tags: { name: `reset ${name}`, shown: name } });
    });
  }
  throw new Error(names[0] + names[1]);
}
