//! Stored runs as inputs of analysis: readers in; facts, documents, studies, comparisons and histories out.
//!
//! The crate must not know flags, the terminal, or how numbers are shown. It finds runs in a catalogue, reads their files, and
//! converts them for `analysis` and `report`.

mod audit;
pub mod bounded;
pub mod build;
pub mod calibration;
mod candidate;
mod collected;
pub mod comparison;
mod complete;
mod coverage;
pub mod diagnosis;
mod document;
mod drops;
mod endpoints;
mod exit;
mod failure;
pub mod history;
mod imported;
pub mod labels;
mod length;
pub mod listing;
mod machine;
mod offered;
mod read;
mod seconds;
mod shell;
pub mod study;
pub mod validity;
pub mod verification;
mod window_range;

pub use audit::{audit_facts, audit_version};
pub use candidate::{Candidate, Chosen, script_hash};
pub use collected::{between, collected, collected_in};
pub use complete::{Complete, add_all, complete};
pub use coverage::coverage_flaws;
pub use document::{Judged, document, document_judged};
pub use drops::{DROP_CAUSES, drop_cause};
pub use exit::Exit;
pub use failure::Failure;
pub use imported::{Source, evidence_header, figure, header as imported_header, stated_summary};
pub use length::parse_length;
pub use machine::facts as machine_facts;
pub use offered::Offered;
pub use read::{
    Shown, find, open, quoted_command, state_word, summary_facts, summary_of, time_unit, unit_word, whole,
};
pub use shell::quoted;
pub use window_range::WindowRange;

/// An error whose text continues "failed to", from a crate that reads or writes runs.
pub fn failed(error: &dyn std::error::Error) -> Failure {
    Failure::new(Exit::Other, format!("failed to {error}"))
}
