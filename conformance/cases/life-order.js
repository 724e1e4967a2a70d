//! unordered
// Which stages run, where, and how often the script is loaded.
console.log(`init as VU ${__VU}`);

export const options = { scenarios: { a: { executor: 'per-vu-iterations', vus: 2, iterations: 1 } } };

export function setup() {
  console.log(`setup as VU ${__VU}`, typeof __ITER);
}

export default function () {
  console.log(`iteration ${__ITER} as VU ${__VU}`);
}

export function teardown() {
  console.log(`teardown as VU ${__VU}`);
}
