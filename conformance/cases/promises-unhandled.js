//! args: --iterations 2
//! says: nobody caught this
// An unhandled rejection ends the iteration; the next one runs.
export default async function () {
  if (__ITER === 0) {
    Promise.reject(new Error('nobody caught this'));
    await new Promise((resolve) => setTimeout(resolve, 30));
    console.log('after');
    return;
  }
  console.log('second iteration');
}
