// Load for any stack of the gallery: VUS users request ROUTE of BASE for DURATION and pause PAUSE_MS between requests.
// `{n}` in ROUTE is a number from 1 to 2,000, different in each iteration. With `METHOD PATH then GET PATH` the first request submits
// a task, and the second one, whose `{id}` is from the answer, asks every 100 ms whether the task is done.
import http from 'k6/http';
import { check, sleep } from 'k6';

const base = __ENV.BASE;
const [first, then] = (__ENV.ROUTE || 'GET /').split(' then ');
const [method, route] = first.split(' ');
const pauseS = Number(__ENV.PAUSE_MS || 0) / 1000;
// Only where there are tasks, because the module adds their metrics to a run.
const flow = then ? require('plimsoll/flow') : null;

export const options = { vus: Number(__ENV.VUS || 10), duration: __ENV.DURATION || '20s' };

function request() {
  const path = route.replace('{n}', String(1 + Math.floor(Math.random() * 2000)));
  const response = http.request(method, base + path, null, { tags: { name: `${method} ${route}` } });
  check(response, { 'status is 200': (r) => r.status === 200 });
  return response;
}

function task() {
  const [pollMethod, pollRoute] = then.split(' ');
  const tags = { name: then };
  flow.task({
    submit: () => request().json('id'),
    poll: (id) => http.request(pollMethod, base + pollRoute.replace('{id}', id), null, { tags }),
    done: (answer) => answer.json('done'),
    interval: '100ms',
  });
}

export default function () {
  if (then) {
    task();
  } else {
    request();
  }
  if (pauseS > 0) {
    sleep(pauseS * (0.5 + Math.random()));
  }
}
