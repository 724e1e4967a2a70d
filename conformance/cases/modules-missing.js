// A module that is not there.
import { nothing } from './fixtures/not-there.js';

export default function () {
  nothing();
}
