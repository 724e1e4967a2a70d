//! The rules of validity: a rule is one file and one line in [`ALL`].

mod clock;
mod connects;
mod coverage;
mod cpu;
mod descriptors;
mod exhausted;
mod lateness;
mod little;
mod losses;
mod network;
mod ports;
mod rate;
mod recorded;
mod retransmission;
mod run_delay;
mod steady;
mod steal;
mod throttling;
mod timer;

use model::Fault;

use super::judge::{Case, Ruling};

/// A rule.
pub(super) struct Rule {
    /// The fault it looks for; some rules find special kinds of it.
    pub(super) fault: Fault,
    /// Whether a run in which it had no evidence cannot be called valid.
    pub(super) is_core: bool,
    /// Judges a case.
    pub(super) judge: fn(&Case<'_>) -> Ruling,
}

/// All rules, in the order of equal reasons.
pub(super) const ALL: &[Rule] = &[
    Rule { fault: Fault::StartLag, is_core: true, judge: lateness::judge },
    Rule { fault: Fault::Dropped, is_core: true, judge: rate::judge },
    Rule { fault: Fault::WorkerCpu, is_core: true, judge: cpu::judge },
    Rule { fault: Fault::Throttled, is_core: false, judge: throttling::judge },
    Rule { fault: Fault::RunDelay, is_core: false, judge: run_delay::judge },
    Rule { fault: Fault::Steal, is_core: false, judge: steal::judge },
    Rule { fault: Fault::TimerLag, is_core: true, judge: timer::judge },
    Rule { fault: Fault::Coverage, is_core: true, judge: coverage::judge },
    Rule { fault: Fault::Network, is_core: false, judge: network::judge },
    Rule { fault: Fault::Exhausted, is_core: false, judge: exhausted::judge },
    Rule { fault: Fault::Ports, is_core: false, judge: ports::judge },
    Rule { fault: Fault::Descriptors, is_core: false, judge: descriptors::judge },
    Rule { fault: Fault::Retransmission, is_core: false, judge: retransmission::judge },
    Rule { fault: Fault::Connects, is_core: false, judge: connects::judge },
    Rule { fault: Fault::Recorded, is_core: true, judge: recorded::judge },
    Rule { fault: Fault::WindowsLost, is_core: false, judge: losses::judge },
    Rule { fault: Fault::Little, is_core: false, judge: little::judge },
    Rule { fault: Fault::Unsteady, is_core: false, judge: steady::judge },
    Rule { fault: Fault::Clock, is_core: false, judge: clock::judge },
];
