//! ignore: errors
// A directive that asks for a k6 that there is not; k6 tells of two tries to get one.
'use k6 >= 99';
export default function () {
  console.log('not reached');
}
