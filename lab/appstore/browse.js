// People who look at the first page, at an app on it, and sometimes download it: all that the faults of the app store show in.
//
//   plimsoll lab fault appstore row-lock on
//   plimsoll run lab/appstore/browse.js
//
// APPSTORE is where it is, VUS how many people there are, DURATION how long they stay.
import http from 'k6/http';
import { check, sleep } from 'k6';

const base = __ENV.APPSTORE;

if (!base) {
  throw new Error('APPSTORE is not set: `plimsoll lab up appstore` says what to set it to');
}

export const options = {
  vus: Number(__ENV.VUS || 10),
  duration: __ENV.DURATION || '30s',
  thresholds: {
    'http_req_duration{name:first page}': ['p(95)<800'],
    http_req_failed: ['rate==0'],
  },
};

export default function () {
  const page = http.get(`${base}/apps/first-page`, { tags: { name: 'first page' } });
  check(page, { 'the page is answered': (r) => r.status === 200 });
  const apps = page.status === 200 ? page.json('downloads.apps') : [];
  if (apps.length > 0) {
    // Most want what most want: app 1, whose row a fault can hold, is the first of them.
    const app = apps[Math.floor(Math.random() ** 2 * apps.length)];
    const detail = http.get(`${base}/apps/${app.appId}`, { tags: { name: 'app' } });
    check(detail, { 'the app is the one': (r) => r.status === 200 && r.json('appId') === app.appId });
    const download = http.post(`${base}/apps/${app.appId}/downloads`, null, { tags: { name: 'download' } });
    check(download, { 'the download is recorded': (r) => r.status === 200 });
  }
  sleep(Math.random() * 0.2);
}
