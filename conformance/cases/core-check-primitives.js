// Conditions that are no object: a number has none, a text has its characters, an array its items.
import { check } from 'k6';
export default function () {
  for (const sets of [5, true, 'xy', '', [true, 0], []]) console.log(check(1, sets));
  for (const sets of [undefined, null]) {
    try {
      console.log(check(1, sets));
    } catch (error) {
      console.log('threw');
    }
  }
}
