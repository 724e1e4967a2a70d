//! script: not-there.js
// A script that is not there.
export default function () {}
