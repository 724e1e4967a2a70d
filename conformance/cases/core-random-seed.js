// The same seed gives the same numbers.
import { randomSeed } from 'k6';

function draw(seed) {
  randomSeed(seed);
  return [Math.random(), Math.random(), Math.random()];
}

export default function () {
  const first = draw(42);
  console.log(JSON.stringify(first) === JSON.stringify(draw(42)));
  console.log(JSON.stringify(first) === JSON.stringify(draw(43)));
  console.log(first.every((n) => n >= 0 && n < 1));
}
