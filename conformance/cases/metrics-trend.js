// Trend: of times and of plain numbers.
import { Trend } from 'k6/metrics';

const plain = new Trend('plain_trend');
const time = new Trend('time_trend', true);

export default function () {
  for (let i = 1; i <= 10; i += 1) {
    plain.add(i);
    time.add(i, { half: i <= 5 ? 'first' : 'second' });
  }
  plain.add(-1);
  plain.add(0);
  plain.add(0.125);
}
