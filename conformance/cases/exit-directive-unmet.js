//! ignore: errors
// A directive that requires a version of k6 that does not exist; k6 logs two attempts to get one.
'use k6 >= 99';
export default function () {
  console.log('not reached');
}
