// A package is not found where none is installed.
import * as it from 'lodash';

export default function () {
  console.log(Object.keys(it).sort().join(), it.name);
}
