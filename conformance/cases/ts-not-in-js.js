//! script: fixtures/ts/other.js
// Types are stripped from .ts files only.
