//! args: --iterations 2
// test.abort() cannot be caught.
import exec from 'k6/execution';

export default function () {
  try {
    exec.test.abort();
  } catch (error) {
    console.log('caught');
  }
  console.log('after');
}
