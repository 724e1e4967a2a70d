//! args: --type archive
// A script is no archive.
export default function () {}
