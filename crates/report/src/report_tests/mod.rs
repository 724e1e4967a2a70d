//! All renderers on the same runs.

mod fixture;
mod hostile;
mod schema;
mod snapshots;
mod verdicts;
mod verdicts_fixture;

pub(crate) use schema::follows;

/// A diagnosis with a finding, its remedy and its prediction.
pub(crate) fn diagnosis() -> api::diagnosis::DiagnosisReport {
    verdicts_fixture::known("scan-worker").diagnosis.expect("the fixture has one")
}
