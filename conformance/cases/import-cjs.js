// A CommonJS file may be named .cjs.
import * as it from './fixtures/import/a.cjs';

export default function () {
  console.log(it.name);
}
