//! env: K6_AUTO_EXTENSION_RESOLUTION=false
// A module that nobody has.
import 'k6/no-such-module';

export default function () {}
