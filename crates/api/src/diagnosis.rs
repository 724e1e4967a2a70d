//! The document of `diagnose --json` and `/api/v1/runs/ID/diagnosis`: the bottleneck, its evidence, and the measurement that would
//! refute it.
//!
//! The shape is published as `docs/format/diagnosis.schema.json`, which a test writes from these types. Keys may be added within
//! a major version of [`DIAGNOSIS_VERSION`]; a key that changes its meaning or goes away makes a new one. Times `t` are seconds
//! from the first window of the run that is named beside them; texts are in the language of the request, English by default.

use serde::Serialize;

use crate::Number;

/// The version of the shape.
pub const DIAGNOSIS_VERSION: &str = "1.0.0";

/// Everything that a diagnosis says.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DiagnosisReport {
    /// The version of this shape: major, minor, patch.
    pub schema_version: &'static str,
    /// `limited` (the first finding limits), `no_server_bottleneck`, `generator`, `cannot_tell`.
    #[cfg_attr(test, schemars(with = "crate::closed::Outcome"))]
    pub outcome: &'static str,
    /// The same in one sentence.
    pub headline: String,
    /// The runs that were looked at, by ascending load.
    pub runs: Vec<DiagnosisRun>,
    /// The components that the time of requests was spent in, which add up to it; null without traces.
    pub attribution: Option<DiagnosisTime>,
    /// Where requests and tasks spend their time.
    pub time_uses: Vec<DiagnosisTime>,
    /// Findings that limit, contribute or are notable, by the share that they explain, in descending order.
    pub findings: Vec<DiagnosisFinding>,
    /// Findings that are not listed individually.
    pub findings_beyond: u64,
    /// Remedies, the cheapest first.
    pub remedies: Vec<DiagnosisRemedy>,
    /// Suspects that were ruled out.
    pub ruled_out: Vec<DiagnosisRuledOut>,
    /// Missing evidence and how to connect it, the most useful first.
    pub missing: Vec<DiagnosisMissing>,
    /// Caveats that apply to the whole diagnosis.
    pub caveats: Vec<String>,
}

/// A run that was looked at.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DiagnosisRun {
    /// Its id.
    pub id: String,
    /// `valid`, `unmeasured`, `degraded`, `invalid`.
    #[cfg_attr(test, schemars(with = "crate::closed::Grade"))]
    pub grade: &'static str,
    /// Completed requests or tasks per second.
    pub throughput: DiagnosisNumber,
    /// The mean time of what was finished; null where nothing was.
    pub mean: Option<DiagnosisNumber>,
}

/// A number with its name, unit and text.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DiagnosisNumber {
    /// Its name.
    pub name: String,
    /// The number; null for what is none.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub value: Option<Number>,
    /// Its unit: `s`, `%`, `points`, `/s`, `/min`, `cores`, `B`, `VUs`; empty for plain numbers.
    pub unit: &'static str,
    /// The number as people read it.
    pub text: String,
    /// Its interval; null where there is none.
    pub interval: Option<DiagnosisInterval>,
    /// Its reference: `limit, 4 pods`; empty where that is plain.
    pub note: String,
}

/// An interval of a number, in the number's unit.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DiagnosisInterval {
    /// Its lower end.
    #[cfg_attr(test, schemars(with = "f64"))]
    pub low: Number,
    /// Its upper end.
    #[cfg_attr(test, schemars(with = "f64"))]
    pub high: Number,
    /// As people read it: `[0.54 – 0.6]`.
    pub text: String,
}

/// Where a request or a task spends its time. The parts add up to the whole.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DiagnosisTime {
    /// The operation or task.
    pub of: String,
    /// How many of them it is the mean of.
    pub count: u64,
    /// Their mean time.
    pub mean: DiagnosisNumber,
    /// The time that the test itself measured; null where it did not.
    pub measured: Option<DiagnosisNumber>,
    /// All parts that wait, together.
    pub waits: DiagnosisNumber,
    /// The same as a share of 1.
    #[cfg_attr(test, schemars(with = "f64"))]
    pub waits_share: Number,
    /// The parts, in order of time.
    pub parts: Vec<DiagnosisPart>,
    /// The same by up to three ways; the first is that of the parts.
    pub ways: Vec<DiagnosisWay>,
    /// How far the ways disagree about waiting, as a share of the longest; null where there is but one.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub disagreement: Option<Number>,
    /// Caveats.
    pub caveats: Vec<String>,
}

/// A part of the time.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DiagnosisPart {
    /// Its name: a queue, a stage, `network`, `target`, `database`, `external`, `queue`, `unseen`.
    pub name: String,
    /// `waits` (hatched), `works` (solid), `travels`, `unseen`.
    #[cfg_attr(test, schemars(with = "crate::closed::Activity"))]
    pub does: &'static str,
    /// The mean over all.
    pub mean: DiagnosisNumber,
    /// The share of the whole, of 1. They add up to 1.
    #[cfg_attr(test, schemars(with = "f64"))]
    pub share: Number,
    /// The same at low load; null where that was not measured.
    pub low: Option<DiagnosisNumber>,
}

/// One way to know where the time goes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DiagnosisWay {
    /// `traces`, `little`, `logs`.
    #[cfg_attr(test, schemars(with = "crate::closed::TimeMethod"))]
    pub method: &'static str,
    /// Its inputs: `289 waiting / 6.13/s`.
    pub from: String,
    /// Queueing; null where the method does not give it.
    pub waits: Option<DiagnosisNumber>,
    /// Being worked on.
    pub works: Option<DiagnosisNumber>,
    /// Everything else.
    pub rest: Option<DiagnosisNumber>,
    /// The sum of its parts.
    pub sum: DiagnosisNumber,
    /// How far that is from what was measured, as a share of it; null where nothing was measured or the sum was made to fit.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub apart: Option<Number>,
}

/// A claim about what limits, with all that is needed to check it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DiagnosisFinding {
    /// The detector; stable.
    pub detector: &'static str,
    /// The kind of fault in the field's words: `connection pool too small`.
    pub label: &'static str,
    /// Its subject: a service, a queue, a pool, a statement.
    pub place: String,
    /// A few words: `scan-worker CPU is at its limit`.
    pub title: String,
    /// Its numbers in one line.
    pub summary: String,
    /// One sentence that is true if the numbers are.
    pub claim: String,
    /// `limits`, `contributes`, `outcome`.
    #[cfg_attr(test, schemars(with = "crate::closed::Role"))]
    pub role: &'static str,
    /// The kind of reasoning: `arithmetic`, `limit`, `statistics`, `pattern`.
    #[cfg_attr(test, schemars(with = "crate::closed::Strength"))]
    pub strength: &'static str,
    /// The share of the latency, or of its growth with load, that it explains, of 1; null where that cannot be said.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub explains: Option<Number>,
    /// The numbers, in the order that the reasoning takes them.
    pub numbers: Vec<DiagnosisNumber>,
    /// Use against throughput; null where no demand was fitted.
    pub demand: Option<DiagnosisDemand>,
    /// The queries of its numbers.
    pub queries: Vec<DiagnosisQuery>,
    /// Up to three that show it.
    pub exemplars: Vec<DiagnosisExemplar>,
    /// Rivals that were looked at for this claim.
    pub ruled_out: Vec<DiagnosisRuledOut>,
    /// Faults of the data that it rests on.
    pub flags: Vec<String>,
    /// Caveats of the claim.
    pub caveats: Vec<String>,
    /// The remedy.
    pub remedy: String,
    /// The cost class of the remedy: `logic`, `setting`, `cache`, `resource`, `architecture`.
    #[cfg_attr(test, schemars(with = "crate::closed::CostClass"))]
    pub cost: &'static str,
    /// The prediction for the remedy; null where there is none.
    pub prediction: Option<DiagnosisPrediction>,
}

/// Use of a resource against throughput, as it is drawn.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DiagnosisDemand {
    /// The used resource, with its unit: `CPU, cores`.
    pub used: String,
    /// The throughput, with its unit: `requests/s`.
    pub through: String,
    /// Throughput of each window.
    #[cfg_attr(test, schemars(with = "Vec<f64>"))]
    pub x: Vec<Number>,
    /// Use in each window.
    #[cfg_attr(test, schemars(with = "Vec<f64>"))]
    pub y: Vec<Number>,
    /// The slope: use per one of what goes through.
    #[cfg_attr(test, schemars(with = "f64"))]
    pub slope: Number,
    /// The lower end of its 95 % interval.
    #[cfg_attr(test, schemars(with = "f64"))]
    pub slope_low: Number,
    /// The upper end.
    #[cfg_attr(test, schemars(with = "f64"))]
    pub slope_high: Number,
    /// Use where nothing goes through.
    #[cfg_attr(test, schemars(with = "f64"))]
    pub intercept: Number,
    /// The limit; null where no source reported one.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub limit: Option<Number>,
    /// The caption of the line.
    pub caption: String,
}

/// A question to a source, to be asked again.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DiagnosisQuery {
    /// The source by its name in the settings.
    pub source: String,
    /// The signal that it gave.
    pub signal: String,
    /// The query: PromQL, SQL, a path.
    pub text: String,
    /// The run by its id.
    pub run: String,
    /// The first instant, RFC 3339, UTC.
    pub from: String,
    /// The last one.
    pub to: String,
    /// The first instant, seconds from the run's first window.
    #[cfg_attr(test, schemars(with = "f64"))]
    pub t_from: Number,
    /// The last one.
    #[cfg_attr(test, schemars(with = "f64"))]
    pub t_to: Number,
    /// Milliseconds between points; zero where they come when something happens.
    #[cfg_attr(test, schemars(with = "f64"))]
    pub step_ms: Number,
    /// Points that were used.
    pub points: u64,
}

/// One that shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DiagnosisExemplar {
    /// `trace`, `statement`, `line`.
    #[cfg_attr(test, schemars(with = "crate::closed::DiagnosisExemplarKind"))]
    pub kind: &'static str,
    /// The run by its id; empty for what is of no single one.
    pub run: String,
    /// The number of a trace; empty for others.
    pub trace: String,
    /// It in words: a trace's duration, a statement, a line.
    pub text: String,
}

/// A suspect that was ruled out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DiagnosisRuledOut {
    /// The suspect.
    pub what: String,
    /// Why it is not it.
    pub why: String,
    /// The number that says so.
    pub number: String,
}

/// A prediction for a remedy: a claim that can fail.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DiagnosisPrediction {
    /// The change.
    pub change: String,
    /// The most that goes through now; null where it is not known.
    pub now: Option<DiagnosisNumber>,
    /// The most that will, with its 90 % interval; without an interval at least so much. Null where no demand is known.
    pub then: Option<DiagnosisNumber>,
    /// The next bottleneck.
    pub next_limit: String,
    /// The observation that would refute it.
    pub wrong_if: String,
    /// The command that tries it.
    pub command: String,
}

/// Something to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DiagnosisRemedy {
    /// `logic`, `setting`, `cache`, `resource`, `architecture`.
    #[cfg_attr(test, schemars(with = "crate::closed::CostClass"))]
    pub cost: &'static str,
    /// The remedy.
    pub text: String,
    /// The finding that it addresses, counted from 1.
    pub finding: usize,
}

/// Evidence that is not there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DiagnosisMissing {
    /// The evidence.
    pub what: String,
    /// The question that it would answer.
    pub tells: String,
    /// How to connect it: a flag, or lines of a file, to be copied.
    pub connect: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_schema_is_that_of_the_types() {
        let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
        let schema = settings.into_generator().into_root_schema_for::<DiagnosisReport>();
        let text = serde_json::to_string_pretty(&schema).expect("a schema is JSON") + "\n";
        expect_test::expect_file!["../../../docs/format/diagnosis.schema.json"].assert_eq(&text);
    }
}
