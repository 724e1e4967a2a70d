//! says: teardown is broken
// teardown() throws.
export default function () {
  console.log('iteration');
}

export function teardown() {
  throw new Error('teardown is broken');
}
