// k6/timers has the global timers, and they run in order of their time.
import { clearInterval, clearTimeout, setInterval, setTimeout } from 'k6/timers';

export default async function () {
  const seen = [];
  const cancelled = setTimeout(() => seen.push('never'), 5);
  clearTimeout(cancelled);
  setTimeout((a, b) => seen.push(a + b), 20, 'x', 'y');
  setTimeout(() => seen.push('first'), 1);
  let ticks = 0;
  await new Promise((done) => {
    const interval = setInterval(() => {
      ticks += 1;
      if (ticks === 3) {
        clearInterval(interval);
        done();
      }
    }, 20);
  });
  console.log(seen.join(), ticks);
}
