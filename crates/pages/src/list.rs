//! `/runs`: all runs, the newest first.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use api::Number;
use api::page::{Fact, RunList, RunObjective, RunRow, RunStudy, ThresholdCount, Unreadable};
use catalogue::{Catalogue, Entry};
use model::{ValueKind, Work};
use report::{Lang, document::Judged, number};
use runfile::{Reader, State, StudyFacts};
use server::{PageError, Question, View};

use super::cache::Stamp;
use super::locked;
use super::points::RATED_MIN_S;
use super::remarks::Remarks;
use super::scope::{Detail, Scope};
use super::study::{RUNS_MAX as NEWEST, Studies};
use super::values::{self, FigureTotals};
use super::{add, damaged, json, limit as asked_limit};

/// Runs per answer, unless the question asks for another number.
const RUNS_DEFAULT: usize = 50;

/// Maximum number of runs per answer.
const RUNS_MAX: usize = 200;

/// Maximum number of unreadable files that are named.
const UNREADABLE_MAX: usize = 20;

/// Maximum number of cached rows, so that a list is read once.
const ROWS_MAX: usize = 10_000;

/// Number of points of a run's throughput curve.
const PARTS: u32 = 40;

/// Cached rows by file.
#[derive(Debug, Default)]
pub(super) struct Rows(Mutex<HashMap<PathBuf, (Stamp, RunRow)>>);

impl Rows {
    fn get(&self, path: &Path, stamp: Stamp) -> Option<RunRow> {
        let rows = locked(&self.0);
        rows.get(path).filter(|row| row.0 == stamp).map(|row| row.1.clone())
    }

    fn put(&self, path: &Path, stamp: Stamp, row: RunRow) {
        let mut rows = locked(&self.0);
        if rows.len() >= ROWS_MAX {
            rows.clear();
        }
        rows.insert(path.to_owned(), (stamp, row));
    }
}

/// The filter of a question.
struct Filter<'a> {
    script: Option<&'a str>,
    tag: Option<(&'a str, &'a str)>,
    status: Option<&'a str>,
}

impl Filter<'_> {
    fn fits(&self, reader: &Reader) -> bool {
        let header = reader.header();
        let name = header.name.as_deref().unwrap_or_default();
        self.script.is_none_or(|part| header.script.contains(part) || name.contains(part))
            && self.tag.is_none_or(|(name, value)| header.tags.get(name).is_some_and(|is| is == value))
            && self.status.is_none_or(|status| runs::state_word(reader) == status)
    }

    /// Checks a cached row against the filter.
    fn fits_row(&self, row: &RunRow) -> bool {
        let is_tag =
            |(name, value): (&str, &str)| row.tags.iter().any(|tag| tag.name == name && tag.value == value);
        self.script.is_none_or(|part| row.script.contains(part) || row.name.contains(part))
            && self.tag.is_none_or(is_tag)
            && self.status.is_none_or(|status| row.status == status)
    }
}

pub(super) fn answer(
    catalogue: &Catalogue,
    remarks: &Remarks,
    (rows, studies): (&Rows, &Studies),
    question: &Question,
) -> Result<String, PageError> {
    let limit = asked_limit(question, RUNS_MAX)?.unwrap_or(RUNS_DEFAULT);
    let filter = Filter {
        script: question.get("script"),
        tag: question.get("tag").map(tag).transpose()?,
        status: question.get("status"),
    };
    let mut entries = catalogue.list().map_err(|error| PageError::Failed(format!("failed to {error}")))?;
    if let Some(before) = question.get("before") {
        let place = entries.iter().position(|entry| entry.name.id.as_str() == before);
        entries.truncate(place.unwrap_or(0));
    }
    let remarks = remarks.all();
    let mut list =
        RunList { place: catalogue.place(), runs: Vec::new(), before: None, unreadable: Vec::new() };
    for entry in entries.iter().rev() {
        if list.runs.len() >= limit {
            list.before = list.runs.last().map(|row| row.id.clone());
            break;
        }
        // Users usually open one of the newest runs from the list, so those stay cached.
        let kept = (list.runs.len() < NEWEST).then_some(studies);
        match row(catalogue, entry, (rows, kept), &filter) {
            Ok(Some(mut row)) => {
                let remark = remarks.get(&row.id).cloned().unwrap_or_default();
                (row.note, row.is_baseline) = (remark.note, remark.is_baseline);
                list.runs.push(row);
            }
            Ok(None) => {}
            // One damaged file must not hide the others.
            Err(why) if list.unreadable.len() < UNREADABLE_MAX => {
                list.unreadable.push(Unreadable { file: entry.name.to_string(), why: why.to_string() });
            }
            Err(_) => {}
        }
    }
    json(&list)
}

fn tag(text: &str) -> Result<(&str, &str), PageError> {
    let invalid = || PageError::Invalid(format!("failed to read tag={text:?}: write NAME=VALUE"));
    text.split_once('=').ok_or_else(invalid)
}

/// Returns the row of an entry; `None` if the filter excludes it.
fn row(
    catalogue: &Catalogue,
    entry: &Entry,
    (rows, studies): (&Rows, Option<&Studies>),
    filter: &Filter<'_>,
) -> Result<Option<RunRow>, PageError> {
    let path = catalogue.bring(entry).map_err(|error| PageError::Failed(format!("failed to {error}")))?;
    let stamp = Stamp::read(&path);
    if let Some(known) = rows.get(&path, stamp) {
        return Ok(filter.fits_row(&known).then_some(known));
    }
    let question = Question::of_run(View::Run, entry.name.id.as_str(), &[]);
    let study = studies.map_or_else(Arc::default, |studies| studies.study(&path, stamp));
    let scope = Scope::open(&path, &question, Detail::SERVED, study)?;
    if !filter.fits(&scope.reader) {
        return Ok(None);
    }
    let mut row = summarize(&scope, entry.bytes)?;
    if let Some(study) = &mut row.study {
        study.objective = level_objective(&path);
    }
    if scope.reader.state() != State::Live {
        rows.put(&path, stamp, row.clone());
    }
    Ok(Some(row))
}

/// Summarises a run in one row.
pub(super) fn summarize(scope: &Scope, bytes: u64) -> Result<RunRow, PageError> {
    let (reader, header) = (&scope.reader, scope.reader.header());
    let report = scope.document()?;
    let (window, elapsed) = scope.sum()?;
    let judged = report.judged();
    let is_start_known = header.imported.as_ref().is_none_or(|imported| imported.is_start_known);
    let is_live = reader.state() == State::Live;
    let elapsed_ms = elapsed.as_secs_f64() * 1e3;
    let fact = |(name, value): (&String, &String)| Fact { name: name.clone(), value: value.clone() };
    Ok(RunRow {
        id: header.run_id.clone(),
        name: header.name.clone().unwrap_or_default(),
        script: header.script.clone(),
        started: is_start_known.then(|| api::rfc3339(header.started_wall_ns)),
        status: runs::state_word(reader),
        state: match reader.state() {
            State::Live => "live",
            State::Partial => "partial",
            State::Complete => "complete",
        },
        exit_code: reader.ending().filter(|_| header.imported.is_none()).map(|ending| ending.exit_code),
        imported: header.imported.as_ref().map(|imported| imported.source.clone()),
        target_version: header.target_version.clone().unwrap_or_default(),
        tags: header.tags.iter().map(fact).collect(),
        elapsed: values::value(elapsed_ms, number::value(elapsed_ms, ValueKind::Time, None)),
        grade: (!is_live).then(|| scope.validity().map(|it| it.grade.as_str())).transpose()?,
        verdict: report.verdict().0.as_str(),
        thresholds: ThresholdCount {
            held: judged.iter().filter(|one| one.threshold.ok).count() as u64,
            total: judged.len() as u64,
        },
        objective: report::headline::decisive(&judged).map(objective),
        figures: FigureTotals::from_window(window).figures(elapsed, scope.time_unit()),
        study: header.study.as_deref().map(study),
        note: String::new(),
        is_baseline: false,
        bytes,
        shape: shape(scope)?,
    })
}

fn objective(judged: &Judged<'_>) -> RunObjective {
    RunObjective {
        name: judged.name(str::to_owned),
        observed: judged.observed_text(),
        limit: judged.limit_text(),
        ok: judged.threshold.ok,
    }
}

fn study(facts: &StudyFacts) -> RunStudy {
    RunStudy {
        name: facts.name.clone(),
        kind: facts.kind.clone(),
        started: facts.started_unix_s,
        load: values::value(facts.load, runs::study::load(facts)),
        objective: None,
    }
}

/// Returns the objective of the study that decides about its level: a violated one, otherwise the nearest to its limit. `None` also
/// where the objectives cannot be read: the study's own screen names the error.
fn level_objective(path: &Path) -> Option<RunObjective> {
    let report = runs::study::of_level(path).ok().flatten()?;
    let study = report::capacity::document(&report, Lang::En);
    let part = study.parts.first()?;
    let is_kept = |at: usize| part.levels.first()?.objectives.get(at)?.is_kept;
    // The SLOs that could not be judged may be those that the step violates.
    let judged: Vec<Option<bool>> = (0..part.objectives.len()).map(is_kept).collect();
    if judged.contains(&None) && !judged.contains(&Some(false)) {
        return None;
    }
    let known =
        part.objectives.iter().zip(&part.levels.first()?.objectives).filter_map(|(objective, measured)| {
            let shown = RunObjective {
                name: format!("{} {}", objective.selector, objective.statistic.replace(['(', ')'], "")),
                observed: measured.value.text.clone(),
                limit: objective.limit.text.clone(),
                ok: measured.is_kept?,
            };
            Some((shown, measured.against.value.map_or(f64::NEG_INFINITY, |share| share.0)))
        });
    let worst = known.max_by(|a, b| (!a.0.ok, a.1).partial_cmp(&(!b.0.ok, b.1)).unwrap_or(Ordering::Equal));
    worst.map(|(objective, _)| objective)
}

/// Returns requests per second for equal slots of the run; `None` for slots without windows.
fn shape(scope: &Scope) -> Result<Vec<Option<Number>>, PageError> {
    let windows = scope.all.len() as u32;
    let parts = windows.min(PARTS);
    let part = |window: u32| {
        let place = u64::from(scope.second(window)) * u64::from(parts) / u64::from(windows.max(1));
        place as usize
    };
    let mut sums = vec![(0.0, 0u64); parts as usize];
    for (window, span) in scope.reader.spans(scope.all.clone()).map_err(damaged)? {
        if let Some(sum) = sums.get_mut(part(window)) {
            sum.0 += span.end.since(span.start).as_secs_f64();
        }
    }
    for row in scope.reader.load(scope.all.clone()).map_err(damaged)? {
        if row.work == Work::Requests
            && let Some(sum) = sums.get_mut(part(row.window))
        {
            add(&mut sum.1, row.finished);
        }
    }
    // A partial last second would look like a peak.
    let shortest_s = if parts > 1 { RATED_MIN_S } else { 0.0 };
    let rate = |(seconds, count): (f64, u64)| {
        (seconds > shortest_s).then(|| Number((count as f64 / seconds * 1e3).round() / 1e3))
    };
    Ok(sums.into_iter().map(rate).collect())
}
