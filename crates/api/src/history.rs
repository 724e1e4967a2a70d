//! The document of `history --format json`: runs of one script in order, and the changes between them.
//!
//! The shape is published as `docs/format/history.schema.json`, which a test writes from these types. Keys may be added
//! within a major version; a key that changes its meaning or goes away makes a new one.

use serde::Serialize;

use crate::Number;

/// The version of the shape.
pub const SCHEMA_VERSION: &str = "1.0.0";

/// The runs of one script.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct History {
    /// The version of this shape: major, minor, patch.
    pub schema_version: &'static str,
    /// The runs, the oldest first.
    pub runs: Vec<HistoryRun>,
    /// Older runs that were not looked at.
    pub runs_left_out: u64,
    /// The changes, figure by figure, in order of the runs.
    pub changes: Vec<HistoryChange>,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct HistoryRun {
    /// The run's id.
    pub id: String,
    /// The start by the wall clock, RFC 3339, UTC.
    pub started: String,
    /// The version of what was tested; empty where it is not known.
    pub target_version: String,
    /// Its figures.
    pub figures: Vec<HistoryFigure>,
}

/// One figure of one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct HistoryFigure {
    /// `p50`, `p95`, `p99`, `error_share`, `requests_per_second`.
    #[cfg_attr(test, schemars(with = "crate::closed::HistoryFigureName"))]
    pub figure: &'static str,
    /// In milliseconds, as a share of 1, or per second; null where there is none, as of a quantile among failures.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub value: Option<Number>,
}

/// A change between two runs that follow each other.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct HistoryChange {
    /// The figure.
    pub figure: String,
    /// The id of the first run after the change.
    pub since: String,
    /// `improved` or `regressed`.
    #[cfg_attr(test, schemars(with = "crate::closed::Direction"))]
    pub direction: &'static str,
    /// The mean of the runs since the change before.
    #[cfg_attr(test, schemars(with = "f64"))]
    pub before: Number,
    /// The mean of the runs until the next change.
    #[cfg_attr(test, schemars(with = "f64"))]
    pub after: Number,
    /// The probability of runs without a change looking so.
    #[cfg_attr(test, schemars(with = "f64"))]
    pub p_value: Number,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_schema_is_that_of_the_types() {
        let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
        let schema = settings.into_generator().into_root_schema_for::<History>();
        let text = serde_json::to_string_pretty(&schema).expect("a schema is JSON") + "\n";
        expect_test::expect_file!["../../../docs/format/history.schema.json"].assert_eq(&text);
    }
}
