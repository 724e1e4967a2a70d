// Tags make series.
import { Counter } from 'k6/metrics';

const counter = new Counter('series');

export default function () {
  for (let i = 0; i < 5; i += 1) {
    counter.add(i, { i, parity: i % 2 ? 'odd' : 'even' });
  }
}
