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

/// Whether a name of an operation has one of these words in it.
fn contains_any(operation: &str, words: &[&str]) -> bool {
    let operation = operation.to_lowercase();
    words.iter().any(|word| operation.contains(word))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    /// The name and the text of each detector's file.
    fn sources() -> Vec<(String, String)> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/diagnosis/detectors");
        let files = fs::read_dir(folder)
            .expect("the folder of the detectors")
            .map(|file| file.expect("a file").path());
        let name = |path: &Path| path.file_stem().and_then(|stem| stem.to_str()).expect("a name").to_owned();
        let read = |path: std::path::PathBuf| (name(&path), fs::read_to_string(&path).expect("a text"));
        files.map(read).filter(|(name, _)| name != "mod" && name != "testing").collect()
    }

    #[test]
    fn every_detector_is_called() {
        let (tables, _) = include_str!("mod.rs").split_once("#[cfg(test)]\nmod tests").expect("tests");
        for (name, _) in sources() {
            assert!(tables.contains(&format!("{name}::detect")), "{name} is missing from DETECTORS and LAST");
        }
    }

    /// A detector that reads what the lab counts for a fault would know the answer.
    #[test]
    fn the_labs_own_indicators_are_not_read() {
        let faults = include_str!("../../../../../lab/faults.toml");
        let counters = faults.lines().filter_map(|line| line.strip_prefix("counter = \"")?.strip_suffix('"'));
        let counters: Vec<&str> = counters.collect();
        assert!(counters.len() > 20, "the catalogue is read");
        let sources = sources();
        for counter in counters {
            assert!(!sources.iter().any(|(_, source)| source.contains(counter)), "{counter}");
        }
    }

    #[test]
    fn detectors_keep_their_thresholds_in_the_table() {
        for (_, source) in sources() {
            let number = |line: &&str| {
                line.starts_with("const ")
                    && [": f64 =", ": u64 =", ": usize ="].iter().any(|kind| line.contains(kind))
            };
            assert_eq!(source.lines().find(number), None);
        }
    }
}
