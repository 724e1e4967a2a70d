//! args: --iterations 4
//! says: a string
//! says: null
// What is thrown need not be an Error.
export default function () {
  if (__ITER === 0) {
    throw 'a string';
  }
  if (__ITER === 1) {
    throw { message: 'from a property' };
  }
  if (__ITER === 2) {
    throw null;
  }
  console.log('fine');
}
