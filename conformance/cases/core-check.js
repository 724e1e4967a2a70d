// check(): values and functions, truthiness, the returned boolean, extra tags.
import { check } from 'k6';

export default function () {
  const value = { n: 3, s: '' };
  console.log(check(value, { 'n is 3': (v) => v.n === 3, 'a literal true': true }));
  console.log(check(value, { 'n is 4': (v) => v.n === 4, 'passes beside a failure': () => true }));
  console.log(check(value, { 'an empty string is falsy': (v) => v.s }));
  console.log(check(value, { 'a number is truthy': 1, 'zero is falsy': 0, 'null is falsy': null }));
  console.log(check(value, { 'a string is truthy': 'x', 'an object is truthy': (v) => v }));
  console.log(check(null, { 'the value may be null': (v) => v === null }, { kind: 'tagged' }));
  console.log(check(value, {}));
}
