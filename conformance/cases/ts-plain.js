//! script: fixtures/ts/plain.ts
// A .ts file that is JavaScript is left alone, unused imports included.
