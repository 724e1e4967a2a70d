// What needs a VU is refused in the init context.
import { check, group, sleep } from 'k6';
import http from 'k6/http';
import { Counter } from 'k6/metrics';

const counter = new Counter('init_counter');
const said = [];

function attempt(name, action) {
  try {
    action();
    said.push(`${name} accepted`);
  } catch (error) {
    said.push(`${name} refused`);
  }
}

attempt('http.get', () => http.get(`${__ENV.BASE}/`));
attempt('http.batch', () => http.batch([`${__ENV.BASE}/`]));
attempt('check', () => check(1, { one: true }));
attempt('group', () => group('g', () => 1));
attempt('add', () => counter.add(1));
attempt('sleep', () => sleep(0));
attempt('http.cookieJar', () => http.cookieJar());
attempt('expectedStatuses', () => http.expectedStatuses(200));

export default function () {
  said.forEach((line) => console.log(line));
}
