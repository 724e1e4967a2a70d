// batch() sends at once, within batchPerHost.
import http from 'k6/http';

export const options = { batch: 20, batchPerHost: 3 };

export default function () {
  const started = Date.now();
  http.batch(new Array(6).fill(`${__ENV.BASE}/delay/200`));
  const elapsed_ms = Date.now() - started;
  console.log(elapsed_ms >= 395 && elapsed_ms < 590);
}
