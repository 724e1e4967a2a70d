//! The detectors of bottlenecks, one file each: the evidence, its source, and what does not count.
//!
//! Detectors read metrics that any server of the kind exposes, by the names of the packs and of OpenTelemetry's conventions. The lab's own
//! indicators of its faults are not among them: a test sees to it.

mod accept;
mod calls;
mod churn;
mod consumers;
mod cpu;
mod disk;
mod imbalance;
mod locks;
mod logging;
mod memory;
mod missing_outcome;
mod pauses;
mod payload;
mod periodic;
mod pool;
mod redelivery;
mod repeats;
mod scaler;
mod serialisation;
mod stampede;
mod statements;
mod throttling;
mod worker_memory;
mod workers;

#[cfg(test)]
mod testing;

use model::diagnosis::Caveat;

use super::case_view::View;
use super::observation::Detector;

pub(super) use cpu::share_saturated;

/// All detectors.
pub(super) const DETECTORS: &[Detector] = &[
    cpu::detect,
    throttling::detect,
    pauses::detect,
    memory::detect,
    pool::detect,
    locks::detect,
    disk::detect,
    accept::detect,
    churn::detect,
    repeats::detect,
    statements::detect,
    periodic::detect,
    stampede::detect,
    calls::detect,
    serialisation::detect,
    consumers::detect,
    scaler::detect,
    redelivery::detect,
    imbalance::detect,
    worker_memory::detect,
    logging::detect,
    payload::detect,
    missing_outcome::detect,
];

/// Those that are asked only where none of the others finds what limits.
pub(super) const LAST: &[Detector] = &[workers::detect];

/// Queries of a finding.
const QUERIES_MAX: usize = 5;

/// Characters of a statement in a sentence.
const STATEMENT_CHARS_MAX: usize = 80;

/// The beginning of a statement.
fn short(statement: &str) -> String {
    let mut text: String = statement.chars().take(STATEMENT_CHARS_MAX).collect();
    if text.len() < statement.len() {
        text.push('…');
    }
    text
}

/// Returns the flag of traces that were kept for being slow or failed.
pub(super) fn biased(view: &View<'_>) -> Vec<Caveat> {
    if view.paths.is_biased { vec![Caveat::BiasedTraces] } else { Vec::new() }
}

/// Whether a text has one of these words in it.
fn contains_any(text: &str, words: &[&str]) -> bool {
    let text = text.to_lowercase();
    words.iter().any(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    const SOURCES: &[&str] = &[
        include_str!("accept.rs"),
        include_str!("calls.rs"),
        include_str!("churn.rs"),
        include_str!("consumers.rs"),
        include_str!("cpu.rs"),
        include_str!("disk.rs"),
        include_str!("imbalance.rs"),
        include_str!("worker_memory.rs"),
        include_str!("locks.rs"),
        include_str!("logging.rs"),
        include_str!("memory.rs"),
        include_str!("missing_outcome.rs"),
        include_str!("payload.rs"),
        include_str!("pauses.rs"),
        include_str!("periodic.rs"),
        include_str!("pool.rs"),
        include_str!("redelivery.rs"),
        include_str!("repeats.rs"),
        include_str!("scaler.rs"),
        include_str!("serialisation.rs"),
        include_str!("stampede.rs"),
        include_str!("statements.rs"),
        include_str!("throttling.rs"),
        include_str!("workers.rs"),
    ];

    /// A detector that reads what the lab counts for a fault would know the answer.
    #[test]
    fn the_labs_own_indicators_are_not_read() {
        let faults = include_str!("../../../../../lab/faults.toml");
        let counters = faults.lines().filter_map(|line| line.strip_prefix("counter = \"")?.strip_suffix('"'));
        let counters: Vec<&str> = counters.collect();
        assert!(counters.len() > 20, "the catalogue is read");
        for counter in counters {
            assert!(!SOURCES.iter().any(|source| source.contains(counter)), "{counter}");
        }
    }

    #[test]
    fn detectors_keep_their_thresholds_in_the_table() {
        for source in SOURCES {
            let number = |line: &&str| {
                line.starts_with("const ")
                    && [": f64 =", ": u64 =", ": usize ="].iter().any(|kind| line.contains(kind))
            };
            assert_eq!(source.lines().find(number), None);
        }
    }
}
