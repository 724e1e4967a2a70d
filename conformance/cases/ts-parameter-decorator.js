//! script: fixtures/ts/decorator.ts
// Parameter decorators are refused.
