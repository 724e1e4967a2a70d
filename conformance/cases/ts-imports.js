//! script: fixtures/ts/imports.ts
// Imports of types vanish with their modules; imports of files need .ts.
