// setup() cannot hand on a function.
export function setup() {
  return { inside: { call: () => 1 } };
}
export default function () {
  console.log('not reached');
}
