// VUs loop until the time is over.
import { sleep } from 'k6';

export const options = { scenarios: { a: { executor: 'constant-vus', vus: 3, duration: '1s' } } };

export default function () {
  sleep(0.4);
}
