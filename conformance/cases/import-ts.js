// A TypeScript file is imported with its extension.
import * as it from './fixtures/import/a.ts';

export default function () {
  console.log(Object.keys(it).sort().join(), it.name);
}
