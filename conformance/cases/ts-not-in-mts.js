//! script: fixtures/ts/other.mts
// Types are stripped from .ts files only.
