// The short forms of old are refused.
import 'github.com/someone/repository/module.js';

export default function () {}
