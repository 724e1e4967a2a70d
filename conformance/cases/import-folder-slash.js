// A folder is not a module, with a slash either.
import * as it from './fixtures/import/folder/';

export default function () {
  console.log(Object.keys(it).sort().join(), it.name);
}
