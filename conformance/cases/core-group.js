// group(): nesting, the returned value, and what happens when its function throws.
import { group, check } from 'k6';
import exec from 'k6/execution';

export default function () {
  console.log(JSON.stringify(exec.vu.tags.group));
  const answer = group('outer', () => {
    console.log(exec.vu.tags.group);
    return group('inner', () => {
      console.log(exec.vu.tags.group);
      return 42;
    });
  });
  console.log(answer);
  try {
    group('throws', () => {
      throw new Error('inside');
    });
  } catch (error) {
    console.log('caught', error.message);
  }
  console.log(JSON.stringify(exec.vu.tags.group));
  check(1, { 'after a throwing group': true });
}
