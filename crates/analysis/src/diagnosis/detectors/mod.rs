//! The detectors of bottlenecks, one file each: the evidence, its source, and the cases that do not count.
//!
//! Detectors read metrics that any server of the kind exposes, by the names of the packs and of OpenTelemetry's conventions. The lab's own
//! indicators of its faults are not among them; a test checks this.

mod accept;
mod calls;
mod churn;
mod consumers;
mod cpu;
mod disk;
mod event_loop;
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
mod refusals;
mod repeats;
mod scaler;
mod serialisation;
mod stampede;
mod statements;
mod throttling;
mod unanswered;
mod worker_memory;
mod workers;

#[cfg(test)]
mod testing;

use model::diagnosis::Caveat;

use super::case_view::View;
use super::observation::Detector;

pub(super) use cpu::share_saturated;

/// Declares a list of detectors by their modules, and for tests the list of their source texts.
macro_rules! detectors {
    ($(#[$doc:meta])* $list:ident, $sources:ident: $($module:ident),* $(,)?) => {
        $(#[$doc])*
        pub(super) const $list: &[Detector] = &[$($module::detect),*];

        /// The source text of each module of the list.
        #[cfg(test)]
        const $sources: &[&str] = &[$(include_str!(concat!(stringify!($module), ".rs"))),*];
    };
}

detectors! {
    /// Detectors that run on every diagnosis, in this order. A module that is left out is dead code, which clippy rejects.
    DETECTORS, SOURCES:
    cpu,
    throttling,
    pauses,
    event_loop,
    memory,
    pool,
    locks,
    disk,
    accept,
    churn,
    repeats,
    statements,
    periodic,
    stampede,
    calls,
    serialisation,
    consumers,
    scaler,
    redelivery,
    refusals,
    imbalance,
    worker_memory,
    logging,
    payload,
    missing_outcome,
}

detectors! {
    /// Detectors that run only if none of [`DETECTORS`] finds a bottleneck.
    LAST, LAST_SOURCES:
    workers,
    unanswered,
}

/// Maximum number of queries per finding.
const QUERIES_MAX: usize = 5;

/// Maximum length of a statement in a sentence, characters.
const STATEMENT_CHARS_MAX: usize = 80;

/// Returns the beginning of a statement.
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
    use super::{LAST_SOURCES, SOURCES};

    fn sources() -> impl Iterator<Item = &'static str> {
        SOURCES.iter().chain(LAST_SOURCES).copied()
    }

    /// A detector that reads the lab's counter of a fault would know the answer.
    #[test]
    fn the_labs_own_indicators_are_not_read() {
        let faults = include_str!("../../../../../lab/faults.toml");
        let counters = faults.lines().filter_map(|line| line.strip_prefix("counter = \"")?.strip_suffix('"'));
        let counters: Vec<&str> = counters.collect();
        assert!(counters.len() > 20, "the catalogue is read");
        for counter in counters {
            assert!(!sources().any(|source| source.contains(counter)), "{counter}");
        }
    }

    #[test]
    fn detectors_keep_their_thresholds_in_the_table() {
        for source in sources() {
            let number = |line: &&str| {
                line.starts_with("const ")
                    && [": f64 =", ": u64 =", ": usize ="].iter().any(|kind| line.contains(kind))
            };
            assert_eq!(source.lines().find(number), None);
        }
    }
}
