// An infinite loop is stopped when the scenario's time is over.
export const options = {
  scenarios: { a: { executor: 'constant-vus', vus: 1, duration: '1s', gracefulStop: '0s' } },
};

export default function () {
  for (;;) {
    // Nothing here ever ends it.
  }
}
