// open() starts in the folder of the module that is being evaluated, wherever it is written.
import { atTop, shared, read } from './fixtures/folder/opens.js';
import common from './fixtures/folder/opens-common.js';

console.log('module', atTop, shared);
console.log('required', common.atTop, common.nested);
try {
  console.log('called', read());
} catch (error) {
  console.log('called', 'threw');
}

export default function () {}
