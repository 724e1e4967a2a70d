// test.abort() in the init context.
import exec from 'k6/execution';

exec.test.abort('in init');

export default function () {
  console.log('iteration');
}
