// The modules of Node.js do not exist.
import * as it from 'fs';

export default function () {
  console.log(Object.keys(it).sort().join(), it.name);
}
