//! args: --iterations 2
// Counter: adding, tags, coercion.
import { Counter } from 'k6/metrics';

const plain = new Counter('my_counter');
const again = new Counter('my_counter');

export default function () {
  console.log(plain.add(1), plain.name);
  plain.add(2.5);
  plain.add(true);
  plain.add('3');
  plain.add(1, { colour: 'red' });
  again.add(1, { colour: 'red', size: 3, flag: true });
}
