//! Simulated runs: random plans in a world with simulated time, each checked against the laws of the lifecycle.
//!
//! A failing seed prints its number; `PLIMSOLL_SEED=<number> cargo test -p engine one_seed -- --ignored --nocapture` runs it
//! again and prints its trace.

mod case;
mod laws;
mod random;
mod threads;
mod trace;
mod world;

use laws::LAWS;
use world::simulate;

/// Seeds of every test run.
const SEEDS: u64 = 2_000;

/// Seeds of [`many_seeds_keep_the_laws`] unless `PLIMSOLL_SEEDS` sets another number.
const SEEDS_MANY: u64 = 100_000;

/// Seeds in which each planted defect must show.
const SEEDS_PER_FAULT: u64 = 400;

/// The law that a run ends at all.
const ENDS: &str = "the run ends";

/// A planted defect of the world or of the path between it and the coordinator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// An interrupted iteration is not recorded as ended.
    LoseInterrupted,
    /// `setup()` is ordered twice.
    RepeatSetup,
    /// `teardown()` is ordered twice.
    RepeatTeardown,
    /// A kill does not reach the coordinator.
    IgnoreKill,
    /// The end of the scenarios is shown after the start of teardown.
    SwapPhases,
    /// An event follows the end.
    SpeakAfterEnd,
    /// A window is not shown.
    LoseWindow,
    /// A thread's samples are lost.
    LoseWindowReport,
    /// Every request for a window is sent twice.
    RepeatWindowRequest,
    /// One thread gets no request for a window.
    SkipThread,
    /// Windows are shown after the evaluation that used them.
    HoldWindows,
    /// Threads do not get the order to stop.
    LoseStop,
    /// The end of graceful stop interrupts nothing.
    ForgetGracefulStop,
    /// A later abort reason replaces the first.
    KeepLastReason,
    /// A threshold aborts before it was evaluated.
    AbortEarly,
    /// A thread's report that its VUs are closed is lost.
    LoseClosedVus,
    /// The report of a ready VU is lost.
    LoseReadyVu,
}

/// Each planted defect and the law that must catch it.
const FAULTS: [(Fault, &str); 17] = [
    (Fault::LoseInterrupted, "iterations end once"),
    (Fault::RepeatSetup, "setup is first and runs once"),
    (Fault::RepeatTeardown, "teardown is last and runs once"),
    (Fault::IgnoreKill, "a kill skips teardown"),
    (Fault::SwapPhases, "phases come in order"),
    (Fault::SpeakAfterEnd, "nothing follows the end"),
    (Fault::LoseWindow, "windows are contiguous"),
    (Fault::LoseWindowReport, "windows hold every iteration"),
    (Fault::RepeatWindowRequest, "a thread is asked for one window at a time"),
    (Fault::SkipThread, "the last window asks every thread"),
    (Fault::HoldWindows, "thresholds see whole windows"),
    (Fault::LoseStop, "graceful stop is bounded"),
    (Fault::ForgetGracefulStop, "graceful stop is bounded"),
    (Fault::KeepLastReason, "the first abort reason stays"),
    (Fault::AbortEarly, "thresholds abort after their delay"),
    (Fault::LoseClosedVus, "only blocked threads are lost"),
    (Fault::LoseReadyVu, ENDS),
];

/// The laws that the run of a seed breaks, with the reasons.
fn broken_laws(seed: u64, fault: Option<Fault>) -> Vec<(&'static str, String)> {
    let trace = match simulate(seed, fault) {
        Ok(trace) => trace,
        Err(error) => return vec![(ENDS, error)],
    };
    LAWS.iter().filter_map(|(name, law)| law(&trace).err().map(|reason| (*name, reason))).collect()
}

fn check_seeds(seeds: std::ops::Range<u64>) {
    for seed in seeds {
        let broken = broken_laws(seed, None);
        assert!(
            broken.is_empty(),
            "seed {seed} breaks {broken:?}; run it again with \
             PLIMSOLL_SEED={seed} cargo test -p engine one_seed -- --ignored --nocapture"
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
    if let Ok(trace) = simulate(seed, None) {
        println!("{:#?} {} workers", trace.case.plan.scenarios, trace.case.workers);
        println!("{:?} {:?}", trace.case.plan.lifecycle, trace.case.requests);
        trace.entries.iter().for_each(|(at, entry)| println!("{:.6} s {entry:?}", at.as_ns() as f64 / 1e9));
    }
    check_seeds(seed..seed + 1);
}

#[test]
fn each_planted_defect_is_caught_by_its_law() {
    for (fault, law) in FAULTS {
        let is_caught = |seed: &u64| broken_laws(*seed, Some(fault)).iter().any(|(broken, _)| *broken == law);
        let seed = (0..SEEDS_PER_FAULT).find(is_caught);
        println!("{law}: {fault:?} caught by seed {seed:?}");
        assert!(seed.is_some(), "{fault:?} is not caught by the law that {law}");
    }
}

#[test]
fn each_law_has_a_planted_defect() {
    for (name, _) in LAWS {
        assert!(FAULTS.iter().any(|(_, law)| *law == name), "no defect is planted for the law that {name}");
    }
}

#[test]
fn a_seed_gives_the_same_run_each_time() {
    for seed in 0..20 {
        let run = || simulate(seed, None).map(|trace| format!("{:?}", trace.entries));
        assert_eq!(run(), run(), "seed {seed}");
    }
}
