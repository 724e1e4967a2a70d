// __ITER is a name in iterations only.
const atInit = typeof __ITER;

export function setup() {
  console.log('setup', typeof __ITER);
  try {
    console.log(__ITER);
  } catch (error) {
    console.log(error.name);
  }
}

export default function () {
  console.log(atInit, __ITER, '__ITER' in globalThis);
}

export function teardown() {
  console.log('teardown', typeof __ITER);
}
