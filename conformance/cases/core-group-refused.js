// Separators in names and async functions are refused.
import { group } from 'k6';

function attempt(name, action) {
  try {
    action();
    console.log(name, 'accepted');
  } catch (error) {
    console.log(name, 'refused');
  }
}

export default function () {
  attempt('separator', () => group('a::b', () => 1));
  attempt('async', () => group('a', async () => 1));
  attempt('no function', () => group('a'));
  attempt('empty name', () => group('', () => 1));
}
