//! unordered
// Every VU runs its own number.
export const options = { scenarios: { a: { executor: 'per-vu-iterations', vus: 3, iterations: 4 } } };

export default function () {
  console.log(__VU, __ITER);
}
