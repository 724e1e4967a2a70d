// Importing a name that a local module does not export is an error.
import { nothing } from './fixtures/lib.js';

export default function () {
  console.log(typeof nothing);
}
