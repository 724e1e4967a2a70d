//! ours: --allow-exec
// k6/x/exec: a program that fails ends the test.
import exec from 'k6/x/exec';

export default function () {
  console.log('before');
  exec.command('false');
  console.log('after');
}
