// sleep() takes seconds, fractions too.
import { sleep } from 'k6';

export default function () {
  let started = Date.now();
  sleep(0.25);
  let elapsed_ms = Date.now() - started;
  console.log(elapsed_ms >= 249 && elapsed_ms < 400);
  started = Date.now();
  sleep(0);
  sleep(-1);
  sleep('0.1');
  elapsed_ms = Date.now() - started;
  console.log(elapsed_ms < 300);
  console.log(sleep(0.01));
}
