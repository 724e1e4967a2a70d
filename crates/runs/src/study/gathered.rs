//! The levels of a study, combined.

use std::path::Path;

use analysis::capacity::{Observed, Question, assess};
use catalogue::Catalogue;
use model::capacity::{LoadUnit, Objective};
use report::capacity::{StudyKind, StudyReport};

use super::CONFIDENCE;
use super::levels::{self, Read, Stored, stored_levels};
use super::objective::{Asked, parse_all};
use crate::Failure;

/// Levels with their measurements, by variant.
pub struct Gathered {
    /// The study's name.
    pub name: String,
    /// Search or sweep.
    pub kind: StudyKind,
    /// The script of the levels.
    pub script: String,
    /// The unit of loads.
    pub unit: LoadUnit,
    /// The recommended load as a share of the lower bound.
    pub head_room: f64,
    /// Whether the time budget ended before the study was complete.
    pub is_cut: bool,
    variants: Vec<Variant>,
}

struct Variant {
    name: String,
    objectives: Vec<Objective>,
    /// The levels, and whether a fault touches an objective of theirs.
    observed: Vec<(Observed, bool)>,
    load_s: f64,
}

impl Gathered {
    /// Returns a study without levels.
    pub fn new(name: &str, kind: StudyKind, script: &str, unit: LoadUnit, head_room: f64) -> Gathered {
        Gathered {
            name: name.to_owned(),
            kind,
            script: script.to_owned(),
            unit,
            head_room,
            is_cut: false,
            variants: Vec::new(),
        }
    }

    /// Adds a level of a variant.
    pub fn add(&mut self, variant: &str, read: &Read) {
        let known = self.variants.iter().position(|it| it.name == variant);
        let at = known.unwrap_or_else(|| {
            let (name, objectives) = (variant.to_owned(), read.objectives.clone());
            self.variants.push(Variant { name, objectives, observed: Vec::new(), load_s: 0.0 });
            self.variants.len() - 1
        });
        let variant = &mut self.variants[at];
        // A custom metric is known only in levels where it has values.
        for (known, found) in variant.objectives.iter_mut().zip(&read.objectives) {
            if known.limit.is_nan() {
                known.clone_from(found);
            }
        }
        variant.load_s += read.spent_s;
        // A level that was measured again because of a fault counts once, as the study counted it.
        let (load, purpose) = (read.observed.level.load, read.observed.level.purpose);
        let is_replaced = |other: &&mut (Observed, bool)| {
            other.1 && other.0.level.load == load && other.0.level.purpose == purpose
        };
        variant.observed.iter_mut().filter(is_replaced).for_each(|other| other.0.level.decides = false);
        variant.observed.push((read.observed.clone(), read.is_partial));
    }

    /// Returns the report of the study.
    pub fn report(&self) -> StudyReport {
        let part = |variant: &Variant| {
            let question = Question {
                variant: variant.name.clone(),
                unit: self.unit,
                objectives: variant.objectives.clone(),
                head_room: self.head_room,
                confidence: CONFIDENCE,
                service_s: None,
                is_cut: self.is_cut,
            };
            let observed: Vec<Observed> = variant.observed.iter().map(|level| level.0.clone()).collect();
            assess(&question, &observed)
        };
        StudyReport {
            name: self.name.clone(),
            kind: self.kind,
            script: self.script.clone(),
            load_s: self.variants.iter().map(|variant| variant.load_s).sum(),
            parts: self.variants.iter().map(part).collect(),
        }
    }
}

/// Returns the study that a stored run is a level of, if any.
///
/// # Errors
/// A file is damaged.
pub fn of_run(path: &Path, catalogue: &Catalogue) -> Result<Option<StudyReport>, Failure> {
    let reader = crate::open(path)?;
    let Some(facts) = reader.header().study.as_deref().cloned() else { return Ok(None) };
    let script = reader.header().script.clone();
    drop(reader);
    let asked = parse_all(&facts.objectives)?;
    let kind = StudyKind::named(&facts.kind);
    let mut gathered = Gathered::new(&facts.name, kind, &script, levels::unit(&facts), facts.head_room);
    for stored in stored_levels(&facts.name, facts.started_unix_s, catalogue)? {
        let read = read_at(&stored, &asked)?;
        gathered.add(&variant(&stored.facts.variant, &stored.target_version), &read);
    }
    Ok(Some(gathered.report()))
}

/// Returns the study as if the stored run were its only level; `None` for a run that is no level or was not completed.
///
/// # Errors
/// A file is damaged.
pub fn of_level(path: &Path) -> Result<Option<StudyReport>, Failure> {
    let reader = crate::open(path)?;
    let header = reader.header();
    let Some(facts) = header.study.as_deref().filter(|_| levels::is_whole(&reader)) else { return Ok(None) };
    let read = levels::read(path, facts, &parse_all(&facts.objectives)?)?;
    let kind = StudyKind::named(&facts.kind);
    let mut gathered = Gathered::new(&facts.name, kind, &header.script, levels::unit(facts), facts.head_room);
    gathered.add(&facts.variant, &read);
    Ok(Some(gathered.report()))
}

fn read_at(stored: &Stored, asked: &[Asked]) -> Result<Read, Failure> {
    levels::read(&stored.path, &stored.facts, asked)
}

/// Returns the key of a variant: the change made for its levels, and the version of the target.
pub fn variant(change: &str, target_version: &str) -> String {
    let words = [target_version, change].into_iter().filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(", ")
}
