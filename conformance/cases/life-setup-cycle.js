// setup() cannot hand on an object that holds itself.
export function setup() {
  const data = { x: 1 };
  data.self = data;
  return data;
}
export default function () {
  console.log('not reached');
}
