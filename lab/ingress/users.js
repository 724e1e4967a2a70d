// Users who read chats without a pause: 300 of them, which is also the number that wait in turn.
//
//   plimsoll lab up ingress --variant two --pin
//   plimsoll run lab/ingress/users.js
//
// INGRESS is where it is, VUS how many people there are, DURATION how long they stay.
import http from 'k6/http';
import { check } from 'k6';
import exec from 'k6/execution';

const base = __ENV.INGRESS;
const rooms = 100;

if (!base) {
  throw new Error('INGRESS is not set: `plimsoll lab up ingress` says what to set it to');
}

export const options = {
  scenarios: {
    users: {
      executor: 'constant-vus',
      vus: Number(__ENV.VUS || 300),
      duration: __ENV.DURATION || '30s',
      gracefulStop: '2s',
    },
  },
  thresholds: { http_req_failed: ['rate<0.01'] },
};

// The fault `generator-limit` asks the script to waste its own core, and the script says that it did.
let burntMs = 0;

function burn(ms) {
  const until = Date.now() + ms;
  while (Date.now() < until);
  burntMs = ms;
}

export default function () {
  const iteration = exec.scenario.iterationInTest;
  const name = iteration % 20 === 0 ? 'export' : 'messages';
  const params = { tags: { name }, headers: burntMs > 0 ? { 'X-Lab-Burnt-Ms': String(burntMs) } : {} };
  burntMs = 0;
  const response = http.get(`${base}/rooms/${iteration % rooms}/${name}`, params);
  check(response, { 'is answered': (r) => r.status === 200 });
  const askedMs = Number(response.headers['X-Lab-Burn-Ms'] || 0);
  if (askedMs > 0) burn(askedMs);
}
