//! args: --iterations 3
//! says: always
// Every iteration throws.
export default function () {
  throw new Error('always');
}
