//! The runs of one script by time, with their figures.

use std::path::{Path, PathBuf};

use catalogue::Catalogue;
use model::metric::builtin::{HTTP_REQ_DURATION, HTTP_REQ_FAILED, HTTP_REQS};
use model::{Aggregate, MetricKind, Quantile};
use report::history::{Figure, HistoricRun, HistoryReport};
use runfile::{Reader, State};

use crate::{Exit, Failure, failed, open, script_hash, whole};

/// Returns the history of a script, or of the script of a run. Unreadable files go to `warn`.
///
/// # Errors
/// The script or run is unknown, or the runs cannot be listed.
pub fn of_script(
    script: &str,
    limit: usize,
    catalogue: &Catalogue,
    warn: impl Fn(Failure),
) -> Result<HistoryReport, Failure> {
    let lineage = Lineage::find(script, catalogue)?;
    let (mut runs, mut left_out) = (Vec::new(), 0);
    let entries = catalogue.list().map_err(|error| failed(&error))?;
    for (looked_at, entry) in entries.iter().rev().enumerate() {
        if runs.len() >= limit {
            left_out = entries.len() - looked_at;
            break;
        }
        let read = catalogue.bring(entry).map_err(|error| failed(&error)).and_then(|path| {
            let reader = open(&path)?;
            if lineage.is(&reader) { historic(&reader).map(Some) } else { Ok(None) }
        });
        match read {
            Ok(run) => runs.extend(run),
            // One damaged file must not hide the others.
            Err(failure) => warn(failure),
        }
    }
    if runs.is_empty() {
        let place = catalogue.place();
        let text = format!("failed to find a run of {script:?} in {place}; steps of studies do not count");
        return Err(Failure::new(Exit::Other, text));
    }
    runs.reverse();
    Ok(HistoryReport::new(runs, left_out))
}

/// The criterion for runs that belong to a history.
#[derive(Debug, Default)]
struct Lineage {
    /// The script's name, as runs were given it.
    script: String,
    /// The hash of the script's modules, whatever the name.
    hash: Option<String>,
}

impl Lineage {
    /// Resolves a run to its script; other text is taken as the path of a script.
    fn find(text: &str, catalogue: &Catalogue) -> Result<Lineage, Failure> {
        let is_script = |text: &str| !text.starts_with('@') && !text.ends_with(catalogue::SUFFIX);
        match catalogue.find(text).map_err(|error| failed(&error)) {
            // An existing script is found by its path and is not a run.
            Ok(path) if is_script(text) && Path::new(text) == path => Ok(Lineage::script(text)),
            Ok(path) => {
                let reader = open(&path)?;
                let (script, hash) = (reader.header().script.clone(), script_hash(&reader));
                Ok(Lineage { script, hash })
            }
            Err(_) if is_script(text) => Ok(Lineage::script(text)),
            Err(failure) => Err(failure),
        }
    }

    fn script(path: &str) -> Lineage {
        Lineage { script: path.to_owned(), hash: None }
    }

    /// Steps of a study are of none: their load differs from run to run on purpose.
    fn is(&self, reader: &Reader) -> bool {
        if reader.header().study.is_some() {
            return false;
        }
        let plain = |path: &str| path.trim_start_matches("./").to_owned();
        plain(&reader.header().script) == plain(&self.script)
            || self.hash.is_some() && script_hash(reader) == self.hash
    }
}

/// Maximum number of files searched for the previous run of a script.
const LOOKED_AT_MAX: usize = 50;

/// Returns the latest run of the same script that ended before this run began, if any; none for a step of a study. Unreadable files
/// are skipped.
///
/// # Errors
/// The runs cannot be listed.
pub fn before(reader: &Reader, catalogue: &Catalogue) -> Result<Option<PathBuf>, Failure> {
    let header = reader.header();
    if header.study.is_some() {
        return Ok(None);
    }
    let lineage = Lineage { script: header.script.clone(), hash: script_hash(reader) };
    for entry in catalogue.list().map_err(|error| failed(&error))?.iter().rev().take(LOOKED_AT_MAX) {
        let path = catalogue.bring(entry).map_err(|error| failed(&error))?;
        let Ok(other) = open(&path) else { continue };
        let is_before = other.header().started_wall_ns < header.started_wall_ns;
        if is_before && other.state() == State::Complete && lineage.is(&other) {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// Returns a run with its figures.
///
/// # Errors
/// The file is damaged.
pub fn historic(reader: &Reader) -> Result<HistoricRun, Failure> {
    let header = reader.header();
    let (window, elapsed) = whole(reader)?;
    let (mut durations, mut requests, mut failed) = (Aggregate::empty(MetricKind::Trend), 0u64, 0u64);
    for (key, aggregate) in &window.series {
        match aggregate {
            Aggregate::Trend(_) if key.metric == HTTP_REQ_DURATION => durations.merge(aggregate),
            Aggregate::Counter(counter) if key.metric == HTTP_REQS => requests += counter.count,
            Aggregate::Rate(rate) if key.metric == HTTP_REQ_FAILED => failed += rate.passes,
            _ => {}
        }
    }
    let quantile = |q: f64| match &durations {
        Aggregate::Trend(trend) => match trend.quantile(q) {
            Quantile::Value(value) => Some(value),
            _ => None,
        },
        _ => None,
    };
    let per = |count: u64, of: f64| (of > 0.0).then(|| count as f64 / of);
    let value = |figure: Figure| match figure {
        Figure::P50 => quantile(0.5),
        Figure::P95 => quantile(0.95),
        Figure::P99 => quantile(0.99),
        Figure::ErrorShare => per(failed, requests as f64),
        Figure::Requests => per(requests, elapsed.as_secs_f64()),
    };
    Ok(HistoricRun {
        id: header.run_id.clone(),
        started_unix_ns: header.started_wall_ns,
        target_version: header.target_version.clone().unwrap_or_default(),
        values: Figure::ALL.map(value),
    })
}
