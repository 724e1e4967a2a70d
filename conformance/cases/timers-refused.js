//! says: from a timer
// An exception in a timer's callback fails the iteration.
export default function () {
  setTimeout(() => {
    throw new Error('from a timer');
  }, 5);
  console.log('armed');
}
