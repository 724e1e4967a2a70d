// Rate: truthy and zero values.
import { Rate } from 'k6/metrics';

const rate = new Rate('my_rate');

export default function () {
  rate.add(true);
  rate.add(false);
  rate.add(1);
  rate.add(0);
  rate.add(2);
  rate.add(-1);
  rate.add('0');
  rate.add(1, { kind: 'tagged' });
  for (const value of ['', ' ', 'x', [], [0], {}, new Date(0)]) {
    console.log(JSON.stringify(value), rate.add(value, { kind: 'odd' }));
  }
}
