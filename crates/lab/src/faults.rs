//! The faults that can be planted, and how each shows: `lab/faults.toml`.

use std::sync::OnceLock;

use serde::Deserialize;

/// The catalogue, part of the program.
const CATALOGUE: &str = include_str!("../../../lab/faults.toml");

/// A fault that a system can have.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// The system that can have it.
    pub system: String,
    /// Its name there: `pool-too-small`.
    pub name: String,
    /// How it acts.
    pub acts: String,
    /// Its kind, the same in every system: what a diagnosis must name.
    pub label: String,
    /// The remedy.
    pub remedy: String,
    /// The change that the remedy makes.
    pub expected: String,
    /// The indicator that it moves; no other fault of the system does.
    pub indicator: String,
}

/// How one kind of fault shows in the numbers of a system that works otherwise.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Indicator {
    /// The system whose number it is.
    pub system: String,
    /// Its name.
    pub name: String,
    /// How it is computed from the service's metrics: the growth of the sum of `counter`, divided by that of `per`, where
    /// there is one.
    pub counter: String,
    /// The divisor.
    pub per: Option<String>,
    /// The unit of its number.
    pub unit: String,
    /// Above this the fault shows.
    pub moved_above: f64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Catalogue {
    indicator: Vec<Indicator>,
    fault: Vec<Fault>,
}

/// All faults, in the order of the catalogue.
pub fn faults() -> &'static [Fault] {
    &catalogue().fault
}

/// The faults of a system.
pub fn faults_of(system: &str) -> impl Iterator<Item = &'static Fault> {
    faults().iter().filter(move |fault| fault.system == system)
}

/// The indicators of a system.
pub fn indicators_of(system: &str) -> impl Iterator<Item = &'static Indicator> {
    catalogue().indicator.iter().filter(move |indicator| indicator.system == system)
}

/// It is part of the program and a test reads it, so it can be read.
fn catalogue() -> &'static Catalogue {
    static READ: OnceLock<Catalogue> = OnceLock::new();
    READ.get_or_init(|| toml::from_str(CATALOGUE).expect("the catalogue of faults is TOML of its shape"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_fault_has_an_indicator_of_its_own() {
        let mut seen = BTreeSet::new();
        for fault in faults() {
            assert!(seen.insert((&fault.system, &fault.name)), "{} is there twice", fault.name);
            let own =
                indicators_of(&fault.system).filter(|indicator| indicator.name == fault.indicator).count();
            assert_eq!(own, 1, "{}: the indicator {}", fault.name, fault.indicator);
            let shared = faults_of(&fault.system).filter(|other| other.indicator == fault.indicator).count();
            assert_eq!(shared, 1, "{}: no other fault moves {}", fault.name, fault.indicator);
            for text in [&fault.acts, &fault.label, &fault.remedy, &fault.expected] {
                assert!(!text.is_empty(), "{} says all there is to say", fault.name);
            }
        }
        assert!(!seen.is_empty());
    }
}
