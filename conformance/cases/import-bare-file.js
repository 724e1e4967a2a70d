// A path begins with a dot.
import * as it from 'fixtures/import/a.mjs';

export default function () {
  console.log(Object.keys(it).sort().join(), it.name);
}
