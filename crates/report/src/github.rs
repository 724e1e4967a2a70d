//! What GitHub Actions reads: annotations, the step's summary, the step's outputs.

use crate::{Lang, RunReport, markdown};

/// Annotations at most: GitHub shows ten per step, and other tools of the step want some too.
pub const ANNOTATIONS_MAX: usize = 8;

/// Bytes of a step's summary at most; GitHub refuses more than 1 MiB for all steps together.
pub const SUMMARY_BYTES_MAX: usize = 200_000;

/// Workflow commands (`::error …`), one a line, for standard output; empty where nothing failed.
pub fn annotations(report: &RunReport, lang: Lang) -> String {
    format!("{:?}{lang:?}", report.verdict())
}

/// The Markdown to append to the file that `GITHUB_STEP_SUMMARY` names.
pub fn step_summary(report: &RunReport, lang: Lang) -> String {
    markdown::render_within(report, lang, SUMMARY_BYTES_MAX)
}

/// The lines to append to the file that `GITHUB_OUTPUT` names: `verdict`, `p95_ms`, `run_id`.
pub fn outputs(report: &RunReport) -> String {
    format!("verdict={}\n", report.verdict().0.as_str())
}
