// setup() that returns nothing, and none at all.
export function setup() {}

export default function (data) {
  console.log(data, typeof data);
}

export function teardown(data) {
  console.log('teardown', data, typeof data);
}
