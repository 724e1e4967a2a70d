//! Results of other tools as runs of ours: what the source supports is kept, what it cannot know is marked.
//!
//! One file per format. A format is one of three kinds of knowledge: every sample ([`Samples`] makes real windows of it),
//! figures alone ([`Stated`] keeps them as they were said), or one row of means per interval ([`ngrinder`]). What a source
//! does not report is a *gap*, a sentence shown wherever the run is shown. The crate turns texts into values; opening
//! files and storing runs is left to its callers.

mod error;
mod flaws;
mod gatling;
mod instant;
mod jtl;
mod k6_csv;
mod k6_json;
mod k6_summary;
mod k6_text;
mod kind;
mod known;
mod lines;
mod locust;
pub mod ngrinder;
mod oha;
mod records;
mod requests;
mod samples;
mod stated;
mod survey;
mod vegeta;

pub use error::ImportError;
pub use flaws::{FLAWS_SHOWN_MAX, Flaws};
pub use instant::rfc3339 as parse_start;
pub use k6_summary::read_summary;
pub use k6_text::read_text;
pub use kind::{HEAD_BYTES, Kind};
pub use lines::LINE_BYTES_MAX;
pub use locust::read_locust;
pub use oha::read_oha;
pub use samples::{LATE_SECONDS_MAX, RUN_START, Samples};
pub use stated::{Figure, Stated, StatedCheck, StatedMetric, StatedThreshold};
pub use survey::{SPAN_DAYS_MAX, Survey};

/// Bytes of a source that is read as a whole: summaries and tables of intervals.
pub const WHOLE_BYTES_MAX: u64 = 64 << 20;
