// VUs that ask again when they are answered, after a pause or none.
import http from 'k6/http';
import { sleep } from 'k6';

export const options = { vus: Number(__ENV.VUS), duration: `${__ENV.SECONDS}s` };

export default function () {
  http.get(`${__ENV.URL}/?ms=${__ENV.HOLD_MS}`);
  if (Number(__ENV.PAUSE) > 0) {
    sleep(Number(__ENV.PAUSE));
  }
}
