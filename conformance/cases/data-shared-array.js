//! unordered
// SharedArray: made once, read-only, elements are copies.
import { SharedArray } from 'k6/data';

export const options = { scenarios: { each: { executor: 'per-vu-iterations', vus: 2, iterations: 1 } } };

const users = new SharedArray('users', () => JSON.parse(open('./fixtures/users.json')));
const numbers = new SharedArray('numbers', () => [1, 2, 3]);

export default function () {
  console.log(users.length, users[1].name, users[99], users[-1]);
  console.log(numbers.map((n) => n * 2).join(), numbers.filter((n) => n > 1).length, numbers.reduce((a, b) => a + b));
  let total = 0;
  for (const n of numbers) {
    total += n;
  }
  console.log(total, numbers.indexOf(2), numbers.includes(3), numbers.slice(1).join());
  console.log(users[0] === users[0], Object.isFrozen(users[0]), Array.isArray(numbers));
  console.log(JSON.stringify(numbers), numbers.find((n) => n > 1), Object.keys(numbers).join());
}
