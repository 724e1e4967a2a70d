//! Remarks on a load step: why it is excluded, which SLO it is the first to violate, and the outcome of its purpose.

use model::Grade;
use model::capacity::{Capacity, Level, Measured, Purpose, Verdict};

use super::sentences::{objective, per_second, seconds};
use crate::Lang;
use crate::number;

/// An objective that holds, or does not, with no more certainty than this is said to be unsure.
const UNSURE_MAX: f64 = 0.8;

/// The remarks on this step of the capacity; empty where there are none.
pub(super) fn remark(capacity: &Capacity, at: usize, lang: Lang) -> String {
    let level = &capacity.levels[at];
    if !level.decides {
        return useless(capacity, level, lang);
    }
    let mut sentences = Vec::new();
    sentences.extend(is_degraded(level).then(|| lang.capacity_level_weighed().to_owned()));
    sentences.extend(shown(level, lang));
    sentences.extend(broken(capacity, at, lang));
    sentences.extend(unsure(capacity, level, lang));
    sentences.extend(fallen(capacity, at, lang));
    sentences.extend(flat(capacity, at, lang));
    sentences.extend(repeated(capacity, level, lang));
    sentences.join(" ")
}

fn useless(capacity: &Capacity, level: &Level, lang: Lang) -> String {
    let word = match level.grade.unwrap_or_default() {
        Grade::Valid => lang.valid(),
        Grade::Unmeasured => lang.not_measured(),
        Grade::Degraded => lang.degraded(),
        Grade::Invalid => lang.invalid(),
    };
    let is_again =
        |other: &Level| other.decides && other.load == level.load && other.purpose == level.purpose;
    let again = if capacity.levels.iter().any(is_again) { lang.capacity_level_again() } else { "" };
    format!("{} {again}", lang.capacity_level_excluded(word)).trim_end().to_owned()
}

/// A level that decides although a fault of the generator was found: without a measurement of an objective, or with an unsure one.
fn is_degraded(level: &Level) -> bool {
    let is_weighed = level.measured.iter().any(|measured| measured.holds.is_none() || is_unsure(measured));
    level.grade == Some(Grade::Degraded) && is_weighed
}

/// Whether chance may have decided if the objective is met.
pub(super) fn is_unsure(measured: &Measured) -> bool {
    measured.holds.is_some_and(|holds| (1.0 - UNSURE_MAX..UNSURE_MAX).contains(&holds))
}

/// The outcome of a step's purpose.
fn shown(level: &Level, lang: Lang) -> Option<String> {
    let is_kept =
        level.measured.iter().map(Measured::is_kept).try_fold(true, |all, one| Some(all && one?))?;
    let duration = seconds(level.measured_s.unwrap_or(0.0).round());
    Some(match (level.purpose, is_kept) {
        (Purpose::Asked | Purpose::Ramp | Purpose::Narrow, _) => return None,
        (Purpose::Hold, true) => lang.capacity_level_held(duration),
        (Purpose::Hold, false) => lang.capacity_level_not_held(duration),
        (Purpose::Above, true) => lang.capacity_level_above_kept().to_owned(),
        (Purpose::Above, false) => lang.capacity_level_above_broke().to_owned(),
        (Purpose::Descent, true) => lang.capacity_level_recovered().to_owned(),
        (Purpose::Descent, false) => lang.capacity_level_not_recovered().to_owned(),
    })
}

/// The objectives that no lower level broke, and by how much this one does.
fn broken(capacity: &Capacity, at: usize, lang: Lang) -> Vec<String> {
    let breaks = |level: &Level, objective: usize| {
        level.decides && level.measured.get(objective).is_some_and(|it| it.is_kept() == Some(false))
    };
    let level = &capacity.levels[at];
    let is_first = |objective: &usize| {
        breaks(level, *objective)
            && !capacity.levels.iter().any(|other| other.load < level.load && breaks(other, *objective))
    };
    let sentence = |objective_at: usize| {
        let asked = &capacity.objectives[objective_at];
        let over = level.measured[objective_at].value.map(|value| (value / asked.limit - 1.0).abs());
        let by = over.filter(|over| over.is_finite() && *over > 0.0);
        let by = by.map_or_else(String::new, |by| lang.capacity_level_by(number::percent(by)));
        lang.capacity_level_breaks(objective(asked), by)
    };
    (0..capacity.objectives.len()).filter(is_first).map(sentence).collect()
}

/// The objective of which it is least sure whether it holds.
fn unsure(capacity: &Capacity, level: &Level, lang: Lang) -> Option<String> {
    let judged = level.measured.iter().zip(&capacity.objectives);
    let unsure = judged.filter(|(measured, _)| is_unsure(measured));
    let unsure = unsure.filter_map(|(measured, asked)| Some((measured.holds?, asked)));
    let (holds, asked) = unsure.min_by(|a, b| (a.0 - 0.5).abs().total_cmp(&(b.0 - 0.5).abs()))?;
    Some(lang.capacity_level_unsure(objective(asked), number::percent(holds)))
}

fn fallen(capacity: &Capacity, at: usize, lang: Lang) -> Option<String> {
    let level = Some(&capacity.levels[at]).filter(|level| level.verdict == Verdict::Collapse)?;
    let lower = capacity.levels[..at].iter().filter(|other| other.decides && other.load < level.load);
    let most = lower.map(|other| other.throughput_per_s).reduce(f64::max)?;
    let less = number::percent(1.0 - level.throughput_per_s / most);
    Some(lang.capacity_level_fell(less, per_second(most)))
}

/// Whether the plateau begins here.
fn flat(capacity: &Capacity, at: usize, lang: Lang) -> Option<String> {
    let least = capacity.ceiling.as_ref()?.plateau_least_per_s;
    let on_plateau = |level: &Level| level.decides && level.throughput_per_s >= least;
    let first = capacity.levels.iter().position(on_plateau)?;
    (first == at && at + 1 < capacity.levels.len()).then(|| lang.capacity_level_flat().to_owned())
}

fn repeated(capacity: &Capacity, level: &Level, lang: Lang) -> Option<String> {
    let same = capacity.levels.iter().filter(|other| other.decides && other.load == level.load).count();
    (same > 1).then(|| lang.capacity_level_repeated(same))
}
