// Extensions are not guessed.
import * as it from './fixtures/import/a';

export default function () {
  console.log(Object.keys(it).sort().join(), it.name);
}
