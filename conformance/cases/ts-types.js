//! script: fixtures/ts/types.ts
// Everything that is only a type is stripped.
