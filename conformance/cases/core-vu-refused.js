// What belongs to init is refused in a VU.
import { Counter } from 'k6/metrics';
import { SharedArray } from 'k6/data';

function attempt(name, action) {
  try {
    action();
    console.log(name, 'accepted');
  } catch (error) {
    console.log(name, 'refused');
  }
}

export default function () {
  attempt('new Counter', () => new Counter('late'));
  attempt('new SharedArray', () => new SharedArray('late', () => []));
  attempt('open', () => open('./fixtures/users.json'));
}
