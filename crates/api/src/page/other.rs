//! Errors, log, generator, validity, thresholds, comparisons.

use serde::Serialize;

use super::{Fact, StripItem, Value};
use crate::Number;
use crate::comparison::{ComparedRun, Comparison};
use crate::report::{ReportExemplar, ReportThreshold, ReportValidity};

/// The errors.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Errors {
    /// How many errors.
    pub total: u64,
    /// How many requests.
    pub requests: u64,
    /// Distinct errors, the most frequent first.
    pub errors: Vec<ErrorRow>,
    /// Errors that are in no row, because there were too many distinct ones.
    pub beyond: u64,
    /// Single requests that failed, and the slowest.
    pub exemplars: Vec<ReportExemplar>,
}

/// A distinct error.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ErrorRow {
    /// k6's error code; 0 for exceptions of the script.
    pub code: u16,
    /// The message.
    pub message: String,
    /// How often.
    pub count: u64,
    /// As a share of all errors.
    pub share: Value,
    /// The first one in full.
    pub example: String,
    /// The tags of the first one.
    pub tags: Vec<Fact>,
    /// The first window that has it.
    pub first: u32,
    /// The last one.
    pub last: u32,
    /// How often in up to 60 equal parts of what is shown.
    pub shape: Vec<u64>,
}

/// Lines of the log.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Logs {
    /// In order.
    pub lines: Vec<LogRow>,
    /// The value of `after` for the next ones; null where there are none.
    pub next: Option<u64>,
    /// How many the run has.
    pub total: u64,
    /// Lines that are not in the file, because there were too many.
    pub lost: u64,
}

/// One line of the log.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LogRow {
    /// Its number, from 1.
    pub id: u64,
    /// When, seconds.
    #[cfg_attr(test, schemars(with = "f64"))]
    pub t: Number,
    /// When, RFC 3339, UTC.
    pub at: String,
    /// `debug`, `info`, `warning`, `error`.
    #[cfg_attr(test, schemars(with = "crate::closed::LogLevel"))]
    pub level: &'static str,
    /// `console`, `stacktrace`, or empty for the runner itself.
    pub source: String,
    /// The text.
    pub message: String,
    /// Further fields.
    pub fields: Vec<Fact>,
}

/// Readings of the generator and its machine.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Generator {
    /// Worker threads.
    pub workers: u32,
    /// The machine.
    pub host: Vec<Fact>,
    /// The measurements that the validity depends on.
    pub strip: Vec<StripItem>,
    /// Readings, one per window.
    pub vitals: Vec<VitalSeries>,
}

/// A thing that is read about the generator.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct VitalSeries {
    /// Its name.
    pub name: String,
    /// `1` is a share; `ms`; `By`; empty is a number of things.
    pub unit: &'static str,
    /// Of which worker thread.
    pub worker: Option<u16>,
    /// When, seconds.
    #[cfg_attr(test, schemars(with = "Vec<f64>"))]
    pub t: Vec<Number>,
    /// The values.
    #[cfg_attr(test, schemars(with = "Vec<f64>"))]
    pub values: Vec<Number>,
    /// The largest.
    pub max: Value,
}

/// Whether the numbers can be trusted.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ValidityPage {
    /// As in the report.
    pub validity: ReportValidity,
    /// The reasons in words, in the same order.
    pub reasons: Vec<ValidityReason>,
    /// Faults that were not measured, in words.
    pub unmeasured: Vec<Unmeasured>,
    /// The grade of each second.
    pub grades: Vec<GradeRange>,
    /// The measurements that it depends on.
    pub strip: Vec<StripItem>,
}

/// A reason in words.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ValidityReason {
    /// The fault.
    pub fault: &'static str,
    /// How bad it is for the run.
    #[cfg_attr(test, schemars(with = "crate::closed::Grade"))]
    pub grade: &'static str,
    /// In a sentence.
    pub sentence: String,
    /// The worst value measured.
    pub observed: Value,
    /// The limit.
    pub limit: Value,
    /// In which seconds, as first and last.
    pub seconds: Vec<[u32; 2]>,
}

/// A fault that was not measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Unmeasured {
    /// The fault.
    pub fault: &'static str,
    /// In words.
    pub text: String,
}

/// Seconds of one grade, the last one among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GradeRange {
    /// The first.
    pub from: u32,
    /// The last.
    pub to: u32,
    /// Their grade.
    #[cfg_attr(test, schemars(with = "crate::closed::Grade"))]
    pub grade: &'static str,
}

/// Thresholds over time.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Thresholds {
    /// As in the report.
    pub thresholds: Vec<ThresholdOverTime>,
}

/// A threshold, and how it stood each time that it was judged.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ThresholdOverTime {
    /// As in the report.
    #[serde(flatten)]
    pub threshold: ReportThreshold,
    /// The margin as reports show it; null where there is none.
    pub margin_text: Option<String>,
    /// Whether crossing it ends the run.
    pub abort_on_fail: bool,
    /// When it was judged, seconds.
    #[cfg_attr(test, schemars(with = "Vec<f64>"))]
    pub t: Vec<Number>,
    /// The observed value until then; null where there was nothing, or no number.
    #[cfg_attr(test, schemars(with = "Vec<Option<f64>>"))]
    pub values: Vec<Option<Number>>,
    /// Whether it held.
    pub oks: Vec<bool>,
}

/// A comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ComparePage {
    /// The document that `compare --format json` writes.
    pub comparison: Comparison,
    /// Its rows as `compare` prints them.
    pub texts: Vec<ComparisonText>,
    /// The rows of its evidence in words.
    pub evidence: Vec<EvidenceText>,
    /// The closing sentence in the language asked for.
    pub sentence: String,
    /// Remarks to read before the rows, in the requested language.
    pub findings: Vec<String>,
    /// All sides beyond the first, each compared with it; null for two sides.
    pub several: Option<ComparedSides>,
}

/// Several sides, each compared with the first. Verdicts hold over all of them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ComparedSides {
    /// All rows of all sides in a word.
    #[cfg_attr(test, schemars(with = "crate::closed::ComparisonVerdict"))]
    pub verdict: &'static str,
    /// The sides beyond the first.
    pub sides: Vec<ComparedSide>,
    /// The figures that are important for at least one side.
    pub rows: Vec<SidesRow>,
    /// Figures of server evidence; they have no verdicts.
    pub evidence: Vec<SidesRow>,
    /// Remarks to read before the rows.
    pub findings: Vec<SidesFinding>,
    /// Sentences about all rows.
    pub caveats: Vec<String>,
}

/// A side that is compared with the first.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ComparedSide {
    /// Its letter, from `B` on.
    pub letter: String,
    /// Its runs.
    pub runs: Vec<ComparedRun>,
    /// Its rows in a word.
    #[cfg_attr(test, schemars(with = "crate::closed::ComparisonVerdict"))]
    pub verdict: &'static str,
    /// The answer about it in a sentence.
    pub sentence: String,
}

/// A figure of all sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SidesRow {
    /// The series; of evidence the service, database or pool.
    pub series: String,
    /// The figure.
    pub figure: String,
    /// The first side's value.
    pub baseline: String,
    /// One per side beyond the first; null where it does not have the figure.
    pub cells: Vec<Option<SidesCell>>,
}

/// A side's value, and its change from the first side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SidesCell {
    /// The value.
    pub value: String,
    /// The change, without its interval.
    pub change: String,
    /// The verdict; null for evidence.
    #[cfg_attr(test, schemars(with = "Option<crate::closed::RowVerdict>"))]
    pub verdict: Option<&'static str>,
    /// The verdict in words.
    pub verdict_text: String,
}

/// A remark on the comparability of sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SidesFinding {
    /// The letters of the sides that have it, as in `B, D: `; empty if all of them have it.
    pub sides: String,
    /// Whether it rules verdicts out.
    pub refuses: bool,
    /// The remark in the requested language.
    pub sentence: String,
}

/// A row of a comparison in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ComparisonText {
    /// The series.
    pub series: String,
    /// The figure.
    pub figure: String,
    /// The first side's.
    pub a: String,
    /// The second side's.
    pub b: String,
    /// The change and its interval.
    pub change: String,
    /// The verdict.
    pub verdict: String,
}

/// A figure of server evidence of both sides in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EvidenceText {
    /// The service, database or pool.
    pub subject: String,
    /// The figure.
    pub figure: String,
    /// The first side's.
    pub a: String,
    /// The second side's.
    pub b: String,
    /// The ratio, or the only side that has the figure.
    pub change: String,
}

/// A note on a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct NoteAnswer {
    /// The note.
    pub note: String,
    /// Whether it is its script's baseline.
    pub is_baseline: bool,
}
