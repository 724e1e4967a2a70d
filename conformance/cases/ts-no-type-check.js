//! script: fixtures/ts/no-type-check.ts
// Types are not checked.
