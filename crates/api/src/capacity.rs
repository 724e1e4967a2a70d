//! The document of `capacity --json`, `sweep --json` and `/api/v1/runs/ID/capacity`: the maximum load of a system with its interval,
//! and its bottleneck.
//!
//! Loads are in the study's unit: VUs, or iterations started per second. Throughput is work per second, where a piece of work
//! is an iteration, or what a table counts. The shape is published as `docs/format/capacity.schema.json`, which a test writes
//! from these types. Keys may be added within a major version; a key that changes its meaning or goes away makes a new one.

use serde::Serialize;

use crate::Number;
use crate::comparison::Bounds;
use crate::report::ReportValue as Value;

/// The version of the shape.
pub const SCHEMA_VERSION: &str = "1.0.0";

/// The page's answer about a run: the study that it is a level of.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CapacityPage {
    /// The study; null for a run that is a level of none.
    pub study: Option<CapacityStudy>,
    /// The command that finds out what the study left open, or makes one of the run's script; empty where nothing is open.
    pub command: String,
}

/// Levels of load that were measured in order to be looked at together.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CapacityStudy {
    /// The version of this shape: major, minor, patch.
    pub schema_version: &'static str,
    /// Its name; empty for a table.
    pub name: String,
    /// `sweep` (loads chosen by the user), `capacity` (loads chosen by a search), `table`.
    #[cfg_attr(test, schemars(with = "crate::closed::StudyKind"))]
    pub kind: &'static str,
    /// The script as it was named, or the table.
    pub script: String,
    /// The time under load that its levels took together, milliseconds.
    pub load_time: Value,
    /// One for each variant of the target, in the order in which they were measured first.
    pub parts: Vec<Capacity>,
}

/// The capacity of one variant of a target.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Capacity {
    /// Its name among the variants: `REPLICAS=2`, a version; empty where there is one.
    pub variant: String,
    /// The unit of load: `vus`, `per_second`.
    #[cfg_attr(test, schemars(with = "crate::closed::LoadUnit"))]
    pub unit: &'static str,
    /// `confirmed` (the line was found and held), `found` (and not held), `broke` (its lower bound broke when it was held),
    /// `above_all` (every level keeps all objectives), `below_all` (none does), `unknown`.
    #[cfg_attr(test, schemars(with = "crate::closed::CapacityVerdict"))]
    pub verdict: &'static str,
    /// The answer in a sentence.
    pub sentence: String,
    /// How it was confirmed, in a sentence; empty where it was not.
    pub confirmed: String,
    /// The recommended load and the limit, in sentences; empty where they are unknown.
    pub plan: String,
    /// The objectives (SLOs), in the order of the settings.
    pub objectives: Vec<CapacityObjective>,
    /// The place of the objective that is broken first; null where none is.
    pub binding: Option<usize>,
    /// The highest load that keeps all objectives.
    pub line: Option<CapacityLine>,
    /// The load to plan for.
    pub recommended: Option<CapacityRecommended>,
    /// The most that the system gets done.
    pub ceiling: Option<CapacityCeiling>,
    /// Where waiting begins: the least and the largest of all methods; null where none found one.
    pub knee: Option<Bounds>,
    /// The same by each method.
    pub knees: Vec<CapacityKnee>,
    /// The demand of one unit of work on each resource, ordered by which saturates first.
    pub demands: Vec<CapacityDemand>,
    /// The limiting resource; null where it is unknown.
    pub end: Option<CapacityEnd>,
    /// The levels, the lowest load first.
    pub levels: Vec<CapacityLevel>,
    /// The captions of the charts.
    pub captions: CapacityCaptions,
    /// Missing evidence and weaknesses of the answer.
    pub missing: Vec<CapacityMissing>,
}

/// Something that the system is held to.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CapacityObjective {
    /// It as it was written: `http_req_duration: p(95)<800`.
    pub text: String,
    /// The metric: `http_req_duration`.
    pub selector: String,
    /// The statistic: `p(95)`.
    pub statistic: String,
    /// With what, in the unit of its metric.
    pub limit: Value,
    /// Whether it is about a time, so that it belongs into a chart of times.
    pub is_time: bool,
    /// The maximum load that meets this one.
    pub line: Option<CapacityLine>,
}

/// The maximum load that meets the SLOs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CapacityLine {
    /// The load.
    pub load: Value,
    /// Its interval; an end that nothing bounds is null.
    pub interval: Bounds,
    /// The coverage of the interval; 0 where the bounds are only the neighbouring levels.
    #[cfg_attr(test, schemars(with = "f64"))]
    pub confidence: Number,
    /// `inside`, `above_all`, `below_all`: whether levels lie on both sides of it.
    #[cfg_attr(test, schemars(with = "crate::closed::LinePlace"))]
    pub place: &'static str,
    /// `isotonic`, `log_linear`.
    pub method: &'static str,
    /// Work per second at the line.
    pub throughput: Value,
}

/// The load to plan for.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CapacityRecommended {
    /// The load.
    pub load: Value,
    /// The same in VUs.
    pub vus: Value,
    /// Work per second.
    pub throughput: Value,
    /// Requests per second.
    pub requests: Value,
    /// The part of the line's lower bound that it is.
    #[cfg_attr(test, schemars(with = "f64"))]
    pub head_room: Number,
}

/// The most that a system gets done.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CapacityCeiling {
    /// Work per second.
    pub throughput: Value,
    /// Its interval.
    pub interval: Bounds,
    /// The throughput of the levels on the plateau.
    pub plateau: Bounds,
    /// The time of an iteration without queueing, think time included, milliseconds: load ÷ this is the no-queueing bound of a
    /// closed loop. Null for open ones.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub cycle: Option<Number>,
}

/// Where waiting begins.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CapacityKnee {
    /// `asymptotic_bounds`, `power`, `kneedle`, `two_segments`, `usl`.
    pub method: &'static str,
    /// The load, or why there is none.
    pub load: Value,
    /// Its interval; null where the method has none.
    pub interval: Option<Bounds>,
    /// Whether this is the one that counts.
    pub is_chosen: bool,
}

/// The demand of one unit of work on a resource: usage = demand × throughput + idle usage.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CapacityDemand {
    /// The resource.
    pub resource: String,
    /// Usage per piece of work.
    pub per_work: Value,
    /// Its interval.
    pub interval: Bounds,
    /// Usage without work.
    pub idle: Value,
    /// The most of it that may be used.
    pub limit: Value,
    /// The throughput at which it is used up.
    pub ceiling: Value,
    /// Its interval; null without a limit.
    pub ceiling_interval: Option<Bounds>,
    /// How many levels were fitted.
    pub levels: usize,
    /// The share of the variance that the line explains, from 0 to 1.
    #[cfg_attr(test, schemars(with = "f64"))]
    pub fit: Number,
    /// Usage at the highest level as a share of the limit.
    pub used: Value,
}

/// The limit.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CapacityEnd {
    /// The resource.
    pub resource: String,
    /// The throughput at which it is used up.
    pub ceiling: Value,
    /// Its interval.
    pub interval: Bounds,
    /// How much of it was used at the highest level.
    pub used: Value,
}

/// One level of load.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CapacityLevel {
    /// The run, by its id; empty for a row of a table.
    pub run: String,
    /// Its name; empty without one.
    pub name: String,
    /// `asked`, `ramp`, `narrow`, `hold`, `above`, `descent`.
    pub purpose: &'static str,
    /// The load.
    pub load: Value,
    /// VUs that looped, or that were busy on average.
    pub vus: Value,
    /// Work per second.
    pub throughput: Value,
    /// Requests per second.
    pub requests: Value,
    /// The time that levels are compared by, milliseconds.
    pub time: Value,
    /// The share of requests that failed.
    pub failed: Value,
    /// The change of throughput from the level before, as a share; null for the first.
    pub gain: Value,
    /// Throughput ÷ time.
    pub power: Value,
    /// How long it was looked at, milliseconds.
    pub measured: Value,
    /// `valid`, `unmeasured`, `degraded`, `invalid`; null for a table.
    #[cfg_attr(test, schemars(with = "Option<crate::closed::Grade>"))]
    pub grade: Option<&'static str>,
    /// Whether it decides anything.
    pub decides: bool,
    /// The measured values of the objectives, in their order.
    pub objectives: Vec<CapacityMeasured>,
    /// `baseline`, `normal`, `knee`, `past_knee`, `saturated`, `slo_exceeded`, `collapse`, `unknown`.
    #[cfg_attr(test, schemars(with = "crate::closed::LevelVerdict"))]
    pub verdict: &'static str,
    /// The verdict in words.
    pub words: String,
    /// A remark; empty where there is none.
    pub remark: String,
}

/// The measured value of an objective at a level.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CapacityMeasured {
    /// The statistic.
    pub value: Value,
    /// Whether the objective holds, more likely than not; null where nothing was seen.
    pub is_kept: Option<bool>,
    /// The probability that it holds; null where nothing was seen.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub holds: Option<Number>,
    /// How far the statistic is from the limit, as a share of it; null where there is no such thing.
    pub against: Value,
}

/// The captions of the charts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CapacityCaptions {
    /// Throughput against offered load.
    pub throughput: String,
    /// Time against throughput.
    pub time: String,
    /// How the methods agree on the knee.
    pub knee: String,
}

/// Missing evidence, or a weakness of the answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CapacityMissing {
    /// `objectives`, `levels`, `load_above`, `load_below`, `valid_levels`, `full_weight`, `measurement`, `evidence`, `limits`,
    /// `hold`, `repeats`, `monotony`, `agreement`, `budget`.
    pub kind: &'static str,
    /// It in a sentence, with what to do about it.
    pub sentence: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `UPDATE_EXPECT=1 cargo test -p api` writes the file anew.
    #[test]
    fn the_published_schema_is_that_of_the_types() {
        let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
        let schema = settings.into_generator().into_root_schema_for::<CapacityStudy>();
        let text = serde_json::to_string_pretty(&schema).expect("a schema is JSON") + "\n";
        expect_test::expect_file!["../../../docs/format/capacity.schema.json"].assert_eq(&text);
    }
}
