//! script: fixtures/ts/commonjs.ts
// CommonJS with types.
