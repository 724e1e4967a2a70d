//! script: fixtures/ts/enums.ts
// Enums, namespaces and parameter properties become the JavaScript they stand for.
