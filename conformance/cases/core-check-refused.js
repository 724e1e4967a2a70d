// Names with the group separator and async functions are refused.
import { check } from 'k6';

function attempt(name, action) {
  try {
    action();
    console.log(name, 'accepted');
  } catch (error) {
    console.log(name, 'refused');
  }
}

export default function () {
  attempt('separator', () => check(1, { 'a::b': true }));
  attempt('async', () => check(1, { 'async': async () => true }));
  attempt('no sets', () => check(1));
  attempt('null sets', () => check(1, null));
}
