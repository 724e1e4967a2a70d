// Directives that this k6 meets, each with other operators: one of a module, and one that says nothing new.
'use k6 ^2.1 , != 2.0.0 || 1.0 - 1.9';
'use k6';
import { hello } from './fixtures/directive.js';
export default function () {
  console.log(hello);
}
