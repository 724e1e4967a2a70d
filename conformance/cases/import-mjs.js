// A module may be named .mjs.
import * as it from './fixtures/import/a.mjs';

export default function () {
  console.log(Object.keys(it).sort().join(), it.name);
}
