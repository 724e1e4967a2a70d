// setup()'s data: JSON, one copy per VU that keeps its changes, a fresh one for teardown().
import { sorted } from './fixtures/sorted.js';

export const options = { vus: 1, iterations: 2 };

export function setup() {
  return { n: 1, list: [1, 'two', null], nested: { a: { b: true } }, text: '한국어', fraction: 1.5 };
}

export default function (data) {
  console.log(sorted(data));
  data.n += 1;
  data.nested.a.b = 'changed';
}

export function teardown(data) {
  console.log('teardown', sorted(data));
}
