// Writing to a SharedArray or to one of its elements.
import { SharedArray } from 'k6/data';

const users = new SharedArray('users', () => [{ name: 'ada', tags: ['a'] }]);

function attempt(name, action) {
  try {
    action();
    console.log(name, 'accepted');
  } catch (error) {
    console.log(name, 'refused', error.name);
  }
}

export default function () {
  attempt('set element', () => {
    users[0] = 1;
  });
  attempt('push', () => users.push(1));
  attempt('set field', () => {
    users[0].name = 'x';
  });
  attempt('push nested', () => users[0].tags.push('b'));
  attempt('set length', () => {
    users.length = 0;
  });
  console.log(JSON.stringify(users));
}
