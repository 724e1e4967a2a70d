// Any name will do for JavaScript.
import * as it from './fixtures/import/a.txt';

export default function () {
  console.log(Object.keys(it).sort().join(), it.name);
}
