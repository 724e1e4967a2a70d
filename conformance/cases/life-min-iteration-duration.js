// minIterationDuration pads every iteration.
export const options = { vus: 1, iterations: 3, minIterationDuration: '300ms' };

export function setup() {
  return Date.now();
}

export default function (started) {
  const elapsed_ms = Date.now() - started;
  console.log(elapsed_ms >= __ITER * 300 - 5 && elapsed_ms < __ITER * 300 + 250);
}
