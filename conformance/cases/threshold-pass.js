// Every aggregation, passing.
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';

export const options = {
  thresholds: {
    my_counter: ['count==3', 'count>=3', 'count<=3', 'count!=4', 'count===3', 'rate>0'],
    my_gauge: ['value==5', 'value>4'],
    my_rate: ['rate==0.5', 'rate<0.6'],
    my_trend: ['avg==20', 'min==10', 'max==30', 'med==20', 'p(50)==20', 'p(90)<30', 'p(99.99)<=30', ' avg < 21 '],
    iterations: ['count>0'],
    checks: ['rate>0.9'],
  },
};

const counter = new Counter('my_counter');
const gauge = new Gauge('my_gauge');
const rate = new Rate('my_rate');
const trend = new Trend('my_trend');

export default function () {
  counter.add(3);
  gauge.add(7);
  gauge.add(5);
  rate.add(1);
  rate.add(0);
  [10, 20, 30].forEach((n) => trend.add(n));
}
