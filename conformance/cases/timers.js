// Timers keep the iteration alive and fire in order.
import { setTimeout as later } from 'k6/timers';

export default function () {
  console.log('start');
  setTimeout(() => console.log('second'), 40);
  setTimeout(() => console.log('first'), 10);
  later(() => console.log('third'), 60);
  const cancelled = setTimeout(() => console.log('never'), 20);
  clearTimeout(cancelled);
  let ticks = 0;
  const interval = setInterval(() => {
    ticks += 1;
    if (ticks === 3) {
      clearInterval(interval);
      console.log('ticked 3 times');
    }
  }, 30);
  setTimeout((a, b) => console.log('arguments', a, b), 5, 'x', 7);
  console.log('end of function');
}
