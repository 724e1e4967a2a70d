//! script: fixtures/archive.tar
//! args: --type js
// An archive is no script.
