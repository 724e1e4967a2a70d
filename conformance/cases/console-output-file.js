//! args: --console-output /dev/null
// Console lines go to a file when asked.
export default function () {
  console.log('to the file');
}
