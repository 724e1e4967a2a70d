//! script: fixtures/ts/syntax-error.ts
// A syntax error in TypeScript.
