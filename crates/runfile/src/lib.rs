//! One SQLite file per run: written beside the load, read afterwards, merged, copied while it grows.
//!
//! [`Writer`] is a listener of [`model::RunEvent`] with a thread of its own; [`Reader`] opens a file for reading and trusts
//! nothing in it; [`merge`] makes one run of the parts that several instances ran; [`snapshot`] copies a run that still
//! goes on. Aggregates are stored without loss, so that what is read back adds up to the numbers the terminal printed, bit
//! for bit. The tables are drawn in `docs/format/runfile.md`. The crate knows nothing of catalogues, verbs or reports.

mod agents;
mod beside;
mod brief;
mod cells;
mod compact;
mod error;
mod evidence;
mod facts;
mod format;
mod header;
mod hidden;
mod imported;
mod lock;
mod merge;
mod reader;
mod redo;
mod rows;
mod seal;
mod signals;
mod snapshot;
mod steps;
mod store;
mod sum;
mod traces;
mod verify;
mod windows;
mod writer;

#[cfg(test)]
mod tests;

pub use agents::AgentRow;
pub use brief::{Cell, LentTrend, Want};
pub use error::{MergeError, ReadError, WriteError};
pub use evidence::add_evidence;
pub use facts::{Anchor, LoadRow, Note, RunMark, StoredLog, ThresholdPoint};
pub use format::{APPLICATION_ID, BLOB_BYTES_MAX, EXTENSION, FORMAT_VERSION};
pub use header::{
    Calibration, Commit, ConditionFacts, Drops, Ending, EnvVar, Header, Host, Module, ReportFacts,
    ScenarioFacts, StudyFacts, ThresholdFacts,
};
pub use imported::{
    ImportWriter, Imported, StatedCheckCount, StatedFigure, StatedSeries, StatedSummary, StatedVerdict,
};
pub use merge::{MergeOptions, merge};
pub use reader::{Reader, State};
pub use seal::Damage;
pub use snapshot::{add_note, snapshot};
pub use steps::STEPS;
pub use traces::{SPANS_MAX, TraceMark};
pub use verify::{Unverified, Verification, verify};
pub use windows::Windows;
pub use writer::{QUEUE_EVENTS_MAX, Report, Writer};
