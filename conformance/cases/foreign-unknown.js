//! env: K6_AUTO_EXTENSION_RESOLUTION=false
// An unknown module.
import 'k6/no-such-module';

export default function () {}
