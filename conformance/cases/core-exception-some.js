//! args: --iterations 4
//! says: sometimes
// Some iterations throw; all are complete.
export default function () {
  if (__ITER % 2 === 0) {
    throw new TypeError('sometimes');
  }
}
