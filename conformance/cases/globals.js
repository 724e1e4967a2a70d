// __VU, __ITER and __ENV.
//! args: -e GREETING=hello -e EMPTY=
//! unordered
const init_vu = typeof __VU;
const init_iter = typeof __ITER;

export const options = {
  scenarios: { each: { executor: 'per-vu-iterations', vus: 2, iterations: 2 } },
};

export default function () {
  console.log(__VU, __ITER, __ENV.GREETING, JSON.stringify(__ENV.EMPTY), __ENV.MISSING, init_vu, init_iter);
}
