// A bad directive of a module counts before an extension that is not there.
import 'k6/x/nothing';
import './fixtures/bad-directive.js';
export default function () {}
