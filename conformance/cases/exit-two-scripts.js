//! args: another.js
// Two scripts are too many.
export default function () {}
