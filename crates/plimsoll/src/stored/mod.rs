//! A run's file, from both sides: written while the run goes on, and read again to show what its terminal showed.

mod audit;
pub(crate) mod calibration;
mod candidate;
mod ci;
mod coverage;
pub(crate) mod diagnosis;
mod document;
mod ending;
mod header;
mod host;
mod imported;
mod offered;
mod part;
mod read;
mod recording;
mod seconds;
mod told;

pub(crate) use audit::{audit_facts, audit_version};
pub(crate) use candidate::{Candidate, Chosen, script_hash};
pub(crate) use ci::{CiOutputs, render};
pub(crate) use coverage::coverage_flaws;
pub(crate) use document::{Judged, document, document_judged};
pub(crate) use ending::cause;
pub(crate) use imported::{Source, evidence_header, figure, header as imported_header, stated_summary};
pub(crate) use offered::Offered;
pub(crate) use part::Part;
pub(crate) use read::{Shown, find, open, state_word, summary_facts, summary_of, time_unit, whole};
pub(crate) use recording::{RecordSettings, Recording, quoted};
pub(crate) use told::{between, collected, told};

use crate::exit::Exit;
use crate::failure::Failure;

/// An error whose text continues "failed to", from a room that reads or writes runs.
pub(crate) fn failed(error: &dyn std::error::Error) -> Failure {
    Failure::new(Exit::Other, format!("failed to {error}"))
}
