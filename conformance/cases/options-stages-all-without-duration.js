//! ignore: warned
// Without any stage that says a duration, one iteration runs.
export const options = { stages: [{ target: 50 }] };
export default function () {
  console.log('ran');
}
