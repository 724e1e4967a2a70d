// A TypeScript file is not found as .js.
import * as it from './fixtures/import/a.js';

export default function () {
  console.log(Object.keys(it).sort().join(), it.name);
}
