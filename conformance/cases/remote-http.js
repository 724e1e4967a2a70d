// A module over http:// is refused.
import 'http://127.0.0.1:1/module.js';

export default function () {}
