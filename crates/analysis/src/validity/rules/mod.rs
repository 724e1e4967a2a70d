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
mod throttling;
mod timer;

use super::judge::{Case, Ruling};

/// A rule.
pub(super) struct Rule {
    /// Its name, as reports and files have it.
    pub(super) name: &'static str,
    /// Whether a run in which it had no evidence cannot be called valid.
    pub(super) is_core: bool,
    /// What it says about a case.
    pub(super) judge: fn(&Case<'_>) -> Ruling,
}

/// All rules, in the order in which equals are told.
pub(super) const ALL: &[Rule] = &[
    Rule { name: "start_lag", is_core: true, judge: lateness::judge },
    Rule { name: "rate", is_core: true, judge: rate::judge },
    Rule { name: "worker_cpu", is_core: true, judge: cpu::judge },
    Rule { name: "throttled", is_core: false, judge: throttling::judge },
    Rule { name: "run_delay", is_core: false, judge: run_delay::judge },
    Rule { name: "timer_lag", is_core: true, judge: timer::judge },
    Rule { name: "coverage", is_core: true, judge: coverage::judge },
    Rule { name: "network", is_core: false, judge: network::judge },
    Rule { name: "exhausted", is_core: false, judge: exhausted::judge },
    Rule { name: "ports", is_core: false, judge: ports::judge },
    Rule { name: "descriptors", is_core: false, judge: descriptors::judge },
    Rule { name: "retransmission", is_core: false, judge: retransmission::judge },
    Rule { name: "connects", is_core: false, judge: connects::judge },
    Rule { name: "recorded", is_core: true, judge: recorded::judge },
    Rule { name: "losses", is_core: false, judge: losses::judge },
    Rule { name: "little", is_core: false, judge: little::judge },
    Rule { name: "clock", is_core: false, judge: clock::judge },
];

/// Every name that a reason can have; whoever shows reasons has words for each.
pub const REASONS: &[&str] = &[
    "start_lag",
    "dropped_target",
    "dropped_generator",
    "dropped_starting",
    "dropped",
    "worker_cpu",
    "throttled",
    "run_delay",
    "timer_lag",
    "coverage",
    "long_windows",
    "network",
    "exhausted",
    "ports",
    "descriptors",
    "retransmission",
    "connects",
    "recorded",
    "losses",
    "workers_lost",
    "little",
    "clock",
];
