//! TypeScript declarations of what scripts have here beside k6, for editors and for TypeScript's compiler.

/// Modules and globals that `@types/k6` does not declare. A test compares them with those that scripts really have.
pub const DECLARATIONS: &str = include_str!("../types/plimsoll.d.ts");

/// Settings of TypeScript with which editors complete `k6/*`, where `@types/k6` is installed, and [`DECLARATIONS`].
pub const TYPESCRIPT_CONFIG: &str = include_str!("../types/tsconfig.json");
