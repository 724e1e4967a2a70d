// What a SharedArray refuses.
import { SharedArray } from 'k6/data';

const said = [];

function attempt(name, action) {
  try {
    action();
    said.push(`${name} accepted`);
  } catch (error) {
    said.push(`${name} refused`);
  }
}

attempt('not an array', () => new SharedArray('object', () => ({ a: 1 })));
attempt('no name', () => new SharedArray('', () => []));
attempt('no function', () => new SharedArray('none'));
attempt('async', () => new SharedArray('async', async () => []));
attempt('throws', () => new SharedArray('throws', () => {
  throw new Error('inside');
}));
attempt('same name again', () => {
  new SharedArray('twice', () => [1]);
  said.push(`second one has ${new SharedArray('twice', () => [1, 2]).length}`);
});
attempt('without new', () => SharedArray('x', () => []));

export default function () {
  said.forEach((line) => console.log(line));
}
