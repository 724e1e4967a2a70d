// JSON is not a module.
import * as it from './fixtures/import/a.json';

export default function () {
  console.log(Object.keys(it).sort().join(), it.name);
}
