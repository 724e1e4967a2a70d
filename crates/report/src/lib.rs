//! Reports for people: start banner, live progress, log, end-of-test summary, and documents of runs and studies.
//!
//! Rendering is pure: plain values and the time go in, text comes out. Only [`progress::Live`] writes, to the stream its
//! caller hands it. The rows, units and alignment are k6's; what Plimsoll adds stands beside them and is left out under
//! `--compat strict`.

pub mod capacity;
pub mod comparison;
pub mod demo;
pub mod diagnosis;
pub mod document;
pub mod escape;
pub mod evidence;
pub mod find;
pub mod findings;
pub mod github;
pub mod header;
pub mod headline;
pub mod help;
pub mod history;
pub mod json;
pub mod junit;
pub mod log;
pub mod markdown;
pub mod number;
pub mod progress;
pub mod repeats;
mod style;
pub mod summary;
pub mod validity;

pub use document::RunReport;
pub use style::Style;
pub use words::Lang;

#[cfg(test)]
mod report_tests;
