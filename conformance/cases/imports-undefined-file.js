// A name that a module of the script's own lacks is an error.
import { gone } from './fixtures/sorted.js';

export default function () {
  console.log(typeof gone);
}
