//! Events of a live run, once a second.

use serde::Serialize;

use super::{Headline, Series, ThresholdOverTime, Value};
use crate::Number;

/// A second of a live run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Tick {
    /// How it stands.
    pub state: LiveState,
    /// The window that was completed, as a series of one point; null before the first.
    pub point: Option<Series>,
    /// The headline so far.
    pub headline: Headline,
    /// The most frequent errors so far.
    pub errors: Vec<LiveError>,
    /// All errors so far.
    pub errors_total: u64,
}

/// How a live run stands.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct LiveState {
    /// `initializing`, `setup`, `running`, `teardown`, `ended`.
    #[cfg_attr(test, schemars(with = "crate::closed::LivePhase"))]
    pub phase: &'static str,
    /// Whether it is held.
    pub is_paused: bool,
    /// Whether it was asked to stop.
    pub is_stopping: bool,
    /// Since the scenarios began, milliseconds.
    #[cfg_attr(test, schemars(with = "f64"))]
    pub elapsed_ms: Number,
    /// The planned duration of the scenarios, in milliseconds; null where it is unknown.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub planned_ms: Option<Number>,
    /// VUs at work.
    pub vus: u32,
    /// VUs that were made.
    pub vus_max: u32,
    /// The time since the scenarios began, as the terminal writes durations.
    pub text: String,
    /// The pace of the last seconds; null before the scenarios begin.
    pub pace: Option<LivePace>,
}

/// The pace of a live run's last seconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct LivePace {
    /// `saturated`: iterations were due and not started. `losing`: few of them, less than one in a hundred. `keeping`: all were
    /// started. `closed`: no rate is planned.
    #[cfg_attr(test, schemars(with = "crate::closed::LivePaceKind"))]
    pub kind: &'static str,
    /// Iterations finished per second.
    pub finished: Value,
    /// Iterations per second that were due and not started.
    pub dropped: Value,
    /// Seconds that the pace covers.
    pub seconds: u32,
}

/// An error so far.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct LiveError {
    /// k6's error code.
    pub code: u16,
    /// The message.
    pub message: String,
    /// How often.
    pub count: u64,
    /// The last window that has it.
    pub last_t: u32,
}

/// Thresholds as they stand, without their past.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LiveThresholds {
    /// In the order of the report.
    pub thresholds: Vec<ThresholdOverTime>,
}

/// The run is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Ended {
    /// How to see it again.
    pub reopen: String,
}

/// Earlier events are no longer available.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Reset {
    /// Why.
    pub why: &'static str,
}
