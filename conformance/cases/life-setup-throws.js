//! says: setup is broken
// setup() throws: 107, no iterations, no teardown.
export function setup() {
  throw new Error('setup is broken');
}

export default function () {
  console.log('iteration');
}

export function teardown() {
  console.log('teardown');
}
