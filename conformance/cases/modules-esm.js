// Local ES modules: named, default, namespace, re-exported; evaluated once per VU.
import { named, count } from './fixtures/lib.js';
import fallback from './fixtures/lib.js';
import * as whole from './fixtures/lib.js';
import { again } from './fixtures/reexport.js';

export default function () {
  console.log(named(), fallback.kind, Object.keys(whole).sort().join(), again(), count());
  console.log(again === named, count());
}
