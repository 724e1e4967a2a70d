//! args: --iterations 2
//! says: rejected iteration
// A rejected default function is a failed iteration.
export default async function () {
  await null;
  if (__ITER === 0) {
    throw new Error('rejected iteration');
  }
  console.log('second iteration');
}
