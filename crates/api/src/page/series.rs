//! Columns over time.

use serde::Serialize;

use crate::Number;

/// Columns over time, all as long as `t`. Windows that were lost have no place in them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Series {
    /// Seconds of a point.
    pub step: u32,
    /// The start of each point, seconds.
    #[cfg_attr(test, schemars(with = "Vec<f64>"))]
    pub t: Vec<Number>,
    /// How many seconds each covers; the last one may be shorter.
    #[cfg_attr(test, schemars(with = "Vec<f64>"))]
    pub width: Vec<Number>,
    /// Iterations per second that were due by plan.
    pub offered: Column,
    /// Iterations started per second.
    pub started: Column,
    /// Iterations finished per second.
    pub finished: Column,
    /// Iterations per second that were due and not started.
    pub dropped: Column,
    /// Requests per second.
    pub requests: Column,
    /// Failed requests per second.
    pub failed: Column,
    /// VUs, the last value of each point.
    pub vus: Column,
    /// VUs that were made.
    pub vus_max: Column,
    /// The mean number of requests under way.
    pub in_flight: Column,
    /// Bytes sent per second.
    pub sent: Column,
    /// Bytes received per second.
    pub received: Column,
    /// Errors per second by kind: the most frequent ones, and what else there is.
    pub errors: Vec<ErrorSeries>,
    /// Responses per second by status code: the most frequent ones, and what else there is. Empty while a run is in progress.
    pub statuses: Vec<StatusSeries>,
    /// The counter, gauge or rate that was asked for; null where it was a trend, whose columns are `latency`.
    pub chosen: Option<ChosenSeries>,
    /// How long it took.
    pub latency: Latency,
    /// Events.
    pub marks: Vec<Mark>,
    /// Thresholds on the metric that can be drawn.
    pub limits: Vec<LimitLine>,
}

/// Values, and why some are missing.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Column {
    /// The values.
    #[cfg_attr(test, schemars(with = "Vec<Option<f64>>"))]
    pub values: Vec<Option<Number>>,
    /// Remarks on some of them.
    pub notes: Vec<Note>,
}

/// A remark on the points `from` to `to`, the latter excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Note {
    /// The first.
    pub from: u32,
    /// The one after the last.
    pub to: u32,
    /// The remark.
    pub why: NoteKind,
}

/// Why a point has no value, or only a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum NoteKind {
    /// Nothing was measured.
    NoSamples,
    /// Fewer than ten samples are beyond the quantile.
    FewSamples,
    /// It lies among failures without a time.
    Failed,
    /// It is a lower bound: of timeouts, cut responses or drops.
    AtLeast,
    /// No rate was planned.
    Unplanned,
    /// The percentile covers several points: each alone has too few samples.
    Widened,
    /// The run ended so early in the point that a rate would not be comparable with others.
    Partial,
}

impl Column {
    /// Adds a value; one that is missing says why.
    pub fn push(&mut self, value: Option<f64>, why: Option<NoteKind>) {
        let at = u32::try_from(self.values.len()).unwrap_or(u32::MAX);
        self.values.push(value.map(Number));
        let Some(why) = why else { return };
        match self.notes.last_mut() {
            Some(note) if note.to == at && note.why == why => note.to = at + 1,
            _ => self.notes.push(Note { from: at, to: at + 1, why }),
        }
    }
}

/// Errors of one kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ErrorSeries {
    /// The message, or `other`.
    pub kind: String,
    /// k6's error code; 0 for exceptions, and for all others.
    pub code: u16,
    /// Per second.
    #[cfg_attr(test, schemars(with = "Vec<f64>"))]
    pub values: Vec<Number>,
    /// How many.
    pub total: u64,
}

/// Responses with one status code.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StatusSeries {
    /// The code, `0` for requests without a response, or `other`.
    pub status: String,
    /// Per second.
    #[cfg_attr(test, schemars(with = "Vec<f64>"))]
    pub values: Vec<Number>,
    /// Responses in the whole range.
    pub total: u64,
}

/// A counter, gauge or rate over time.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ChosenSeries {
    /// The metric.
    pub metric: String,
    /// `counter`: per second. `gauge`: the last value. `rate`: a share of 1.
    #[serde(rename = "type")]
    #[cfg_attr(test, schemars(with = "crate::closed::MetricKind"))]
    pub kind: &'static str,
    /// `default`, `time` (milliseconds), `data` (bytes).
    #[cfg_attr(test, schemars(with = "crate::closed::Contains"))]
    pub contains: &'static str,
    /// The tags that were asked for.
    pub tags: String,
    /// Its values.
    pub values: Column,
}

/// A trend over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Latency {
    /// The metric.
    pub metric: String,
    /// `default`, `time` (milliseconds), `data` (bytes).
    #[cfg_attr(test, schemars(with = "crate::closed::Contains"))]
    pub contains: &'static str,
    /// The tags that were asked for.
    pub tags: String,
    /// Medians.
    pub p50: Column,
    /// 95th percentiles.
    pub p95: Column,
    /// 99th percentiles.
    pub p99: Column,
    /// The largest values.
    pub max: Column,
    /// Means.
    pub mean: Column,
    /// Samples.
    pub count: Vec<u64>,
}

/// Something that happened once.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Mark {
    /// When, seconds.
    #[cfg_attr(test, schemars(with = "f64"))]
    pub t: Number,
    /// `setup_started`, `scenarios_started`, `scenarios_ended`, `teardown_started`, `ended`, `samples_lost`.
    pub kind: String,
    /// More about it.
    pub text: String,
}

/// A threshold as a line.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LimitLine {
    /// The condition as written.
    pub condition: String,
    /// The statistic.
    pub statistic: String,
    /// The limit, in the metric's unit.
    #[cfg_attr(test, schemars(with = "f64"))]
    pub value: Number,
    /// Whether it held in the end.
    pub ok: bool,
    /// The limit as the terminal shows it.
    pub text: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_with_one_reason_share_a_note() {
        let mut column = Column::default();
        column.push(None, Some(NoteKind::NoSamples));
        column.push(None, Some(NoteKind::NoSamples));
        column.push(Some(1.5), None);
        column.push(Some(2.0), Some(NoteKind::AtLeast));
        let text = serde_json::to_string(&column).expect("plain numbers");
        assert_eq!(
            text,
            r#"{"values":[null,null,1.5,2],"notes":[{"from":0,"to":2,"why":"no_samples"},{"from":3,"to":4,"why":"at_least"}]}"#
        );
    }
}
