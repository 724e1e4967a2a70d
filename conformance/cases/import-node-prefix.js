// The modules of Node.js do not exist, with their prefix either.
import * as it from 'node:fs';

export default function () {
  console.log(Object.keys(it).sort().join(), it.name);
}
