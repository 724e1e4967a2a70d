// Every stage may be async.
//! summary
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export async function setup() {
  await wait(5);
  return { ready: true };
}

export default async function (data) {
  await wait(5);
  console.log('iteration', data.ready);
}

export async function teardown(data) {
  await wait(5);
  console.log('teardown', data.ready);
}

export async function handleSummary() {
  await null;
  return { stdout: 'async summary\n' };
}
