// Names that a module of k6 or a CommonJS file lacks are undefined.
import { get, nope } from 'k6/http';
import { answer, gone } from './fixtures/common.js';

export default function () {
  console.log(typeof get, typeof nope, typeof answer, typeof gone);
}
