//! One planned iteration: which scenario, which number, due when.

use crate::{Instant, ScenarioId};

/// An iteration that an open-loop schedule wants started at `due`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Whose iteration it is.
    pub scenario: ScenarioId,
    /// The iteration's index in the whole test, unique over all instances, from 0.
    pub iteration: u64,
    /// When it should start.
    pub due: Instant,
}

/// Why an arrival was never started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DropCause {
    /// Every VU was busy and `maxVUs` was reached: the target (or the script) is slower than the plan.
    VusExhausted,
    /// Every VU was busy and a further one was still being initialised.
    VuStarting,
    /// The time was up before the iterations were (`shared-iterations`, `per-vu-iterations`).
    TimeUp,
    /// The agent that was to start it was lost, or had ended by itself.
    AgentLost,
}

impl DropCause {
    /// The cause as it appears in tags and messages.
    pub const fn as_str(self) -> &'static str {
        match self {
            DropCause::VusExhausted => "vus_exhausted",
            DropCause::VuStarting => "vu_starting",
            DropCause::TimeUp => "time_up",
            DropCause::AgentLost => "agent_lost",
        }
    }
}
