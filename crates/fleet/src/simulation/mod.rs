//! Simulated runs of a hub and its agents: random networks and faults in simulated time, each checked against laws.
//!
//! A failing seed prints its number; `PLIMSOLL_SEED=<number> cargo test -p fleet one_seed -- --ignored --nocapture` runs it
//! again and prints its trace.

mod case;
mod laws;
mod world;

use laws::LAWS;
use world::{Trace, simulate};

/// Seeds of every test run.
const SEEDS: u64 = 2_000;

/// Seeds of [`many_seeds_keep_the_laws`] unless `PLIMSOLL_SEEDS` sets another number.
const SEEDS_MANY: u64 = 100_000;

/// Seeds in which each planted defect must show.
const SEEDS_PER_FAULT: u64 = 600;

/// The law that a run ends at all.
const ENDS: &str = "every run ends";

/// A planted defect of the world around hub and agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// An agent hands a window over twice.
    RepeatWindow,
    /// The hub's listener does not get a window.
    LoseWindow,
    /// An agent starts before its instant.
    StartEarly,
    /// `setup()` runs twice.
    RepeatSetup,
    /// `teardown()` runs while scenarios run.
    EarlyTeardown,
    /// Agents do not obey orders to stop.
    IgnoreStop,
    /// Agents prepare another part than they are given.
    WrongPart,
    /// An agent does not hand over its end.
    LoseEnd,
    /// Agents go on while the hub does not answer.
    IgnoreFence,
    /// An agent that continues another's load begins at the start of the schedule.
    Replay,
    /// An agent runs the schedule later than the others.
    ShiftSchedule,
    /// An agent that continues a share runs the whole part.
    WholeShare,
    /// Agents do not continue the load of others.
    IgnoreEnlist,
}

/// Each planted defect and the law that must catch it.
const FAULTS: [(Fault, &str); 13] = [
    (Fault::RepeatWindow, "nothing is counted twice"),
    (Fault::LoseWindow, "nothing acknowledged is lost"),
    (Fault::StartEarly, "the start skew is bounded"),
    (Fault::ShiftSchedule, "all agents follow one schedule"),
    (Fault::RepeatSetup, "setup and teardown run once"),
    (Fault::EarlyTeardown, "teardown follows the scenarios"),
    (Fault::IgnoreStop, "load ends with the hub"),
    (Fault::WrongPart, "the parts are the whole test"),
    (Fault::LoseEnd, "a finished agent has handed over everything"),
    (Fault::IgnoreFence, "no part runs twice at a time"),
    (Fault::Replay, "no part runs twice at a time"),
    (Fault::WholeShare, "no part runs twice at a time"),
    (Fault::IgnoreEnlist, "a lost part is continued as a whole"),
];

/// The laws that the run of a seed breaks, with the reasons.
fn broken_laws(seed: u64, fault: Option<Fault>) -> Vec<(&'static str, String)> {
    match simulate(seed, fault) {
        Ok(trace) => broken(&trace),
        Err(error) => vec![(ENDS, error)],
    }
}

fn broken(trace: &Trace) -> Vec<(&'static str, String)> {
    LAWS.iter().filter_map(|(name, law)| law(trace).err().map(|reason| (*name, reason))).collect()
}

fn check_seeds(seeds: std::ops::Range<u64>) {
    for seed in seeds {
        let broken = broken_laws(seed, None);
        assert!(
            broken.is_empty(),
            "seed {seed} breaks {broken:?}; run it again with \
             PLIMSOLL_SEED={seed} cargo test -p fleet one_seed -- --ignored --nocapture"
        );
    }
}

fn number_from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn seeds_keep_the_laws() {
    check_seeds(0..SEEDS);
}

#[test]
#[ignore = "takes minutes: run by name, PLIMSOLL_SEEDS sets the number of seeds"]
fn many_seeds_keep_the_laws() {
    check_seeds(0..number_from_environment("PLIMSOLL_SEEDS").unwrap_or(SEEDS_MANY));
}

#[test]
#[ignore = "prints the trace of the seed in PLIMSOLL_SEED"]
fn one_seed() {
    let seed = number_from_environment("PLIMSOLL_SEED").unwrap_or(0);
    match simulate(seed, None) {
        Ok(trace) => trace.print(),
        Err(error) => println!("{error}"),
    }
    check_seeds(seed..seed + 1);
}

#[test]
fn each_planted_defect_is_caught_by_its_law() {
    for (fault, law) in FAULTS {
        let is_caught = |seed: &u64| broken_laws(*seed, Some(fault)).iter().any(|(broken, _)| *broken == law);
        let seed = (0..SEEDS_PER_FAULT).find(is_caught);
        assert!(seed.is_some(), "{fault:?} is not caught by the law that {law}");
    }
}

/// The cases are not all alike: faults happen in every stage, and most runs start.
#[test]
fn the_cases_reach_every_stage() {
    let traces: Vec<Trace> = (0..SEEDS_PER_FAULT).filter_map(|seed| simulate(seed, None).ok()).collect();
    let count = |of: &dyn Fn(&Trace) -> bool| traces.iter().filter(|trace| of(trace)).count();
    let started = count(&|trace| trace.agreed.is_some());
    let lost = count(&|trace| !trace.lost.is_empty());
    let lost_running =
        count(&|trace| trace.lost.iter().any(|lost| trace.agreed.is_some_and(|at| lost.1 > at)));
    let hub_died = count(&|trace| trace.hub_died.is_some());
    let suspects = count(&|trace| trace.suspects > 0);
    let fewer = count(&|trace| trace.was_recut);
    let taken = count(&|trace| !trace.taken.is_empty());
    let calm = count(&|trace| trace.vacated.iter().any(|lost| trace.is_calm_after(lost)));
    let returned = count(&|trace| trace.returned > 0);
    let reborn = count(&|trace| trace.reborn > 0);
    let torn_down = count(&|trace| !trace.teardowns.is_empty());
    for (what, count, least) in [
        ("started", started, 200),
        ("lost an agent", lost, 40),
        ("lost an agent under load", lost_running, 15),
        ("lost the hub", hub_died, 15),
        ("had a suspect", suspects, 40),
        ("went on with fewer agents", fewer, 3),
        ("ran teardown", torn_down, 60),
        ("had an agent continue the load of another", taken, 15),
        ("had time for all of that load", calm, 3),
        ("had a lost agent return", returned, 10),
        ("had a new process continue a load", reborn, 5),
    ] {
        assert!(count >= least, "{count} of {SEEDS_PER_FAULT} runs {what}");
    }
}
