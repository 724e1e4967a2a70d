//! args: --no-setup --no-teardown
// setup() and teardown() can be skipped.
export function setup() {
  console.log('setup');
  return 1;
}

export default function (data) {
  console.log('iteration', data);
}

export function teardown() {
  console.log('teardown');
}
