// A built-in module that does not exist.
import { nothing } from 'k6/not-there';

export default function () {
  nothing();
}
