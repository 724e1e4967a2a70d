// Gauge: the values it takes.
import { Gauge } from 'k6/metrics';

const level = new Gauge('level');

export default function () {
  level.add(3);
  level.add(-2);
  level.add(7.5);
  level.add(0, { tank: 'left' });
}
