//! The agents of a run.

use serde::Serialize;

use super::Value;
use crate::Number;

/// The agents that made the load.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FleetPage {
    /// The agents in the order in which they joined.
    pub agents: Vec<FleetAgent>,
    /// Difference between the first and the last start.
    pub skew: Value,
    /// Largest error of an agent's clock.
    pub uncertainty: Value,
}

/// One agent.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FleetAgent {
    /// Its name.
    pub name: String,
    /// Cores that it may use.
    pub cores: u32,
    /// Its share of the test.
    pub share: Value,
    /// `joining`, `running`, `suspect`, `ended`, `lost`.
    #[cfg_attr(test, schemars(with = "crate::closed::AgentState"))]
    pub state: &'static str,
    /// From when on it started iterations, seconds; null before it has begun.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub from: Option<Number>,
    /// From when on its load was missing, seconds; null where it was not.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub lost_from: Option<Number>,
    /// Until when, seconds; null where no agent continued it.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub lost_to: Option<Number>,
    /// Iterations per second that were due on it.
    pub due: Value,
    /// Such iterations per second that it finished.
    pub achieved: Value,
    /// Requests per second.
    pub requests: Value,
    /// Iterations that it dropped.
    pub dropped: Value,
    /// Share of a core that its busiest worker thread had at worst.
    pub cpu: Value,
    /// 99th percentile of the lateness of its iterations.
    pub lateness: Value,
    /// Delay of its start after the agreed instant.
    pub late: Value,
    /// The hub's clock minus its own.
    pub offset: Value,
    /// Largest error of the offset.
    pub uncertainty: Value,
    /// Doubts about its measurement, in English; empty where there are none.
    pub doubts: String,
}
