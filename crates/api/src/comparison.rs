//! The document of `compare --format json`: two sides, their comparability, and the changes.
//!
//! The shape is published as `docs/format/comparison.schema.json`, which a test writes from these types. Keys may be added
//! within a major version; a key that changes its meaning or goes away makes a new one.

use serde::Serialize;

use crate::Number;

/// The version of the shape.
pub const SCHEMA_VERSION: &str = "1.1.0";

/// A comparison of two sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Comparison {
    /// The version of this shape: major, minor, patch.
    pub schema_version: &'static str,
    /// All rows in a word: `regressed` if any did, else `improved` if any did, else `inconclusive` unless all rows with a
    /// verdict are `equivalent`.
    #[cfg_attr(test, schemars(with = "crate::closed::ComparisonVerdict"))]
    pub verdict: &'static str,
    /// The answer in a sentence, in English.
    pub sentence: String,
    /// The options.
    pub options: ComparisonOptions,
    /// The runs of the first side.
    pub a: Vec<ComparedRun>,
    /// The runs of the second side.
    pub b: Vec<ComparedRun>,
    /// Remarks to read before the rows, most serious first.
    pub findings: Vec<ComparisonFinding>,
    /// Whether a side has too few runs for their variation to be known: intervals are of these runs alone.
    pub within_run_only: bool,
    /// How many seconds were compared with the same seconds of the other side's plan; null where the load does not vary by
    /// plan.
    pub paired_seconds: Option<u64>,
    /// One per series and figure, the most important series first.
    pub rows: Vec<ComparisonRow>,
    /// Evidence of the servers of both sides: facts without a verdict.
    pub evidence: ComparedEvidence,
    /// Endpoints that were not compared, because there were too many; those with the fewest requests.
    pub endpoints_left_out: u64,
}

/// The options.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ComparisonOptions {
    /// The coverage of intervals.
    #[cfg_attr(test, schemars(with = "f64"))]
    pub confidence: Number,
    /// The relative difference that does not matter.
    #[cfg_attr(test, schemars(with = "f64"))]
    pub margin: Number,
    /// A difference of durations in milliseconds that does not matter.
    #[cfg_attr(test, schemars(with = "f64"))]
    pub margin_ms: Number,
    /// The limit of a good response, in milliseconds; null where every success is good.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub slo_ms: Option<Number>,
    /// Whether latencies were judged although the load was unequal.
    pub despite_unequal_load: bool,
    /// Whether runs without a steady part were judged whole.
    pub despite_no_steady_part: bool,
}

/// One run of a side.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ComparedRun {
    /// The run's id.
    pub id: String,
    /// The name its owner gave it; empty without one.
    pub name: String,
    /// The script as it was named.
    pub script: String,
    /// The start by the wall clock, RFC 3339, UTC.
    pub started: String,
    /// The version of what was tested; empty where it is not known.
    pub target_version: String,
    /// How many seconds under load there are.
    pub seconds: u64,
    /// The steady ones, or those that were compared where the load varies by plan; null where the run has none.
    pub steady: Option<SteadySeconds>,
}

/// Seconds of a run under load.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SteadySeconds {
    /// The first, counted from 0.
    pub from: u64,
    /// The one after the last.
    pub to: u64,
}

/// Something to know before reading the rows.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ComparisonFinding {
    /// `no_run`, `unequal_rate`, `unequal_vus`, `unequal_plan`, `open_and_closed`, `untrusted`, `no_steady_part`,
    /// `different_scripts`, `different_durations`, `load_unknown`, `closed_loop`, `target_versions`, `hosts`, `only_on`.
    pub kind: &'static str,
    /// Whether it kept latencies and rates from getting a verdict.
    pub refuses: bool,
    /// The same in an English sentence, with its figures.
    pub sentence: String,
}

/// A figure of both sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ComparisonRow {
    /// The endpoint (`GET /cart`) or metric; empty for what is about the whole run.
    pub series: String,
    /// `mean`, `p95`, `error_share`, `goodput`, `throughput`.
    pub figure: String,
    /// `ms`, `share` (of 1) or `per_second`.
    #[cfg_attr(test, schemars(with = "crate::closed::ComparedUnit"))]
    pub unit: &'static str,
    /// The first side's; null where there is none.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub a: Option<Number>,
    /// The second side's.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub b: Option<Number>,
    /// b divided by a; null where there is no such thing.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub ratio: Option<Number>,
    /// The interval of the ratio.
    pub ratio_interval: Option<Bounds>,
    /// b less a; of shares only.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub difference: Option<Number>,
    /// The interval of the difference.
    pub difference_interval: Option<Bounds>,
    /// The share of false findings at which this row is one, over all rows; null without a verdict.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub q_value: Option<Number>,
    /// `improved`, `regressed`, `equivalent`, `inconclusive`, `not_available`.
    #[cfg_attr(test, schemars(with = "crate::closed::RowVerdict"))]
    pub verdict: &'static str,
    /// How it was found: `interval`, by the interval; `ranks`, since no value of one side lies among those of the other;
    /// `margin_ms`, by the margin in milliseconds.
    pub method: &'static str,
    /// Why there is no verdict: `no_steady_part`, `too_short`, `unequal_load`, `unsupported`, `censored`, `below_margin`,
    /// `no_values`; null where there is one.
    pub why: Option<&'static str>,
    /// About how many minutes more per side would decide an inconclusive row.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub more_minutes: Option<Number>,
    /// About how many runs more per side would.
    pub more_runs: Option<u32>,
}

/// The evidence of servers on both sides, means of whole runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ComparedEvidence {
    /// The work that figures are per: `request`, or `task` where all runs with evidence have tasks.
    #[cfg_attr(test, schemars(with = "crate::closed::WorkUnit"))]
    pub per: &'static str,
    /// One per service, database or pool and figure; empty where no side has evidence.
    pub rows: Vec<ComparedEvidenceRow>,
    /// Services, databases and pools that are left out, because there are too many.
    pub left_out: u64,
}

/// A figure of a service, database or connection pool on both sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ComparedEvidenceRow {
    /// The service, database or pool.
    pub subject: String,
    /// Per unit of work: `cpu_time`, `queries` that the database counted, `traced_queries` (database calls in traces of the
    /// service), `spans`, `pool_wait`. Or `pool_in_use`, connections in use.
    #[cfg_attr(test, schemars(with = "crate::closed::EvidenceFigure"))]
    pub figure: &'static str,
    /// `ms` or `count`.
    #[cfg_attr(test, schemars(with = "crate::closed::EvidenceUnit"))]
    pub unit: &'static str,
    /// The first side's; null where its evidence does not show it.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub a: Option<Number>,
    /// The second side's.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub b: Option<Number>,
    /// The limit of the first side's value, where there is one.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub limit_a: Option<Number>,
    /// The limit of the second side's value.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub limit_b: Option<Number>,
    /// b divided by a; null where there is no such thing.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub ratio: Option<Number>,
}

/// Several sides, each compared with the first: `compare A B C --format json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct BaselineComparison {
    /// The version of this shape and of that of its comparisons.
    pub schema_version: &'static str,
    /// All rows of all comparisons in a word, as in a comparison.
    #[cfg_attr(test, schemars(with = "crate::closed::ComparisonVerdict"))]
    pub verdict: &'static str,
    /// One per side beyond the first, which is side `a` of each. Their q-values and verdicts hold over all of them.
    pub comparisons: Vec<Comparison>,
}

/// The bounds of an interval.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Bounds {
    /// The lower one; null where nothing bounds it.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub lower: Option<Number>,
    /// The upper one; null where nothing bounds it.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub upper: Option<Number>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_schema_is_that_of_the_types() {
        let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
        let schema = settings.into_generator().into_root_schema_for::<Comparison>();
        let text = serde_json::to_string_pretty(&schema).expect("a schema is JSON") + "\n";
        expect_test::expect_file!["../../../docs/format/comparison.schema.json"].assert_eq(&text);
    }

    #[test]
    fn so_is_that_of_several_comparisons() {
        let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
        let schema = settings.into_generator().into_root_schema_for::<BaselineComparison>();
        let text = serde_json::to_string_pretty(&schema).expect("a schema is JSON") + "\n";
        expect_test::expect_file!["../../../docs/format/comparisons.schema.json"].assert_eq(&text);
    }
}
