//! script: fixtures/ts/other.tsx
// Types are stripped from .ts files only.
