//! script: fixtures/ts/stack.ts
// Stacks lead to the lines of the TypeScript.
