//! ignore: errors
// Endless recursion can be caught.
function deeper(n) {
  return n === 0 ? 0 : 1 + deeper(n - 1);
}

export default function () {
  console.log(deeper(1000));
}
