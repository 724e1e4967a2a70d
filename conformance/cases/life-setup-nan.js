// setup() cannot hand on a number that JSON has no word for.
export function setup() {
  return [1, NaN];
}
export default function () {
  console.log('not reached');
}
