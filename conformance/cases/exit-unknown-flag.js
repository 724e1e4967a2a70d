//! args: --no-such-flag
// A flag that does not exist.
export default function () {}
