//! The agents of a run, as its listeners see them.

use crate::Instant;
use crate::plan::Share;

/// An agent's place in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AgentState {
    /// It initialises VUs to continue a lost agent's load.
    #[default]
    Joining,
    /// It runs its part.
    Running,
    /// It has not been heard for some seconds.
    Suspect,
    /// It has handed over everything.
    Ended,
    /// It is lost, or ended its load before the others; part of its load may be missing.
    Lost,
}

impl AgentState {
    /// All of them.
    pub const ALL: &[AgentState] =
        &[AgentState::Joining, AgentState::Running, AgentState::Suspect, AgentState::Ended, AgentState::Lost];

    /// Its name for machines.
    pub const fn as_str(self) -> &'static str {
        match self {
            AgentState::Joining => "joining",
            AgentState::Running => "running",
            AgentState::Suspect => "suspect",
            AgentState::Ended => "ended",
            AgentState::Lost => "lost",
        }
    }

    /// The one with this name.
    pub fn named(name: &str) -> Option<AgentState> {
        AgentState::ALL.iter().copied().find(|state| state.as_str() == name)
    }
}

/// One agent of a run so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgentFacts {
    /// Its name.
    pub name: String,
    /// Cores that it may use.
    pub cores: u32,
    /// The part of the test that it runs, from 0, and the number of parts; `None` before it has one.
    pub part: Option<(u32, u32)>,
    /// The share of that part.
    pub share: Option<Share>,
    /// Its place in the run.
    pub state: AgentState,
    /// From when on it starts iterations.
    pub from: Option<Instant>,
    /// From when on its load is missing, where it is lost: the end of its last window.
    pub lost_at: Option<Instant>,
    /// Until when it is missing: others continue it from then on.
    pub continued_at: Option<Instant>,
    /// Delay of its start after the agreed instant by its own clock, nanoseconds.
    pub late_ns: Option<i64>,
    /// The hub's clock minus its own, nanoseconds.
    pub offset_ns: Option<i64>,
    /// Largest error of the offset, nanoseconds.
    pub uncertainty_ns: Option<u64>,
    /// Iterations of arrival-rate scenarios that were due on it.
    pub due: u64,
    /// Such iterations that it has finished.
    pub achieved: u64,
    /// All iterations that it has finished.
    pub finished: u64,
    /// Iterations that it has dropped.
    pub dropped: u64,
    /// Requests that it has finished.
    pub requests: u64,
    /// Time for which it has run its part, nanoseconds.
    pub ran_ns: u64,
    /// 99th percentile of the lateness of its iterations, milliseconds; `None` without arrival rates.
    pub lateness_p99_ms: Option<f64>,
    /// Share of a core that its busiest worker thread had, in its last window and in its worst one.
    pub cpu: Option<(f64, f64)>,
    /// Doubts about its measurement, as a line for people; empty where there are none.
    pub doubts: String,
}
