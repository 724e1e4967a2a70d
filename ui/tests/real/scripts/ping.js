// Another script: closed, without thresholds, groups or checks.
import http from 'k6/http';
import { sleep } from 'k6';

export const options = { vus: 2, duration: '5s' };

export default function () {
  http.get(`${__ENV.TARGET}/json`);
  sleep(0.05);
}
