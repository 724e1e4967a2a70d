// A file without an extension is found by its name.
import * as it from './fixtures/import/without';

export default function () {
  console.log(Object.keys(it).sort().join(), it.name);
}
