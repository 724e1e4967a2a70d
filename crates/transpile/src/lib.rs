//! TypeScript becomes JavaScript, and positions in generated code become positions in what was written.
//!
//! Types are stripped and never checked; enums, namespaces and parameter properties become the JavaScript they stand for.
//! The result is what the engine itself understands: there is no lowering to older editions.
//!
//! The crate knows nothing of files, of JavaScript engines or of k6: it takes a name and a text.

mod map;
mod redeclared;
mod strip;

pub use map::{MapError, Original, SourceMap};
pub use redeclared::{Redeclared, without_redeclared};
pub use strip::{Output, SyntaxError, strip_types};
