// Parameters, bodies and tags that are none: some are overlooked, some are answered by a response that has no request.
import http from 'k6/http';
import { check } from 'k6';
import { Counter, Rate } from 'k6/metrics';

const counter = new Counter('my_counter');
const rate = new Rate('my_rate');
const url = `${__ENV.BASE}/status/200`;

const PARAMS = [
  'text', 5, [], { tags: 5 }, { tags: null }, { tags: { a: null } }, { tags: { a: undefined } },
  { tags: { a: {} } }, { tags: { a: () => 1 } }, { tags: { a: 1, b: true } }, { timeout: null }, { timeout: undefined },
  { timeout: 'soon' }, { timeout: {} }, { compression: null }, { compression: 'zip' }, { responseType: null },
  { responseType: undefined }, { responseType: 'json' }, { responseCallback: 'all' }, { responseCallback: undefined },
  { headers: null }, { headers: 'a' }, { cookies: 'a' }, { jar: 'a' }, { jar: null },
];
const BODIES = [5, true, false, [1, 2], [{ a: 1 }], () => 1, null, undefined, {}];
const VALUES = ['x', '5', true, false, null, undefined, {}, [], '', 0, 5];

function show(label, res) {
  console.log(label, res.status, res.error_code, res.request === null, res.url === '');
}

export default function () {
  PARAMS.forEach((params, index) => show(`params ${index}`, http.post(url, 'body', params)));
  BODIES.forEach((body, index) => show(`body ${index}`, http.post(url, body)));
  const res = http.get(url, { cookies: { a: null, b: undefined, c: 5 } });
  console.log(Object.keys(res.request.cookies).sort());
  VALUES.forEach((value, index) => console.log(`value ${index}`, rate.add(value)));
  for (const tags of [5, null, undefined]) {
    console.log(counter.add(1, tags), check(1, { one: (it) => it === 1 }, tags));
  }
}
