//! Runs of other tools: what a source stated, and a way to write its seconds as fast as they are read.

use std::path::Path;
use std::sync::Arc;

use model::{MetricRegistry, TagInterner, Window};
use serde::{Deserialize, Serialize};

use crate::store::Store;
use crate::{Ending, Header, WriteError};

/// Where an imported run comes from, and what is not known of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Imported {
    /// The format: `k6-json`, `k6-csv`, `k6-summary`, `k6-text`, `ngrinder`.
    pub source: String,
    /// The name of the file that was read, without its folder.
    pub file: String,
    /// Whether the start is the source's; if not, it is the time of the import.
    pub is_start_known: bool,
    /// Facts that the source lacks, a sentence each.
    pub gaps: Vec<String>,
    /// Figures as the source stated them, or as they follow from its rows.
    pub figures: Vec<StatedFigure>,
    /// The whole summary as the source stated it; then the run has no seconds.
    pub summary: Option<StatedSummary>,
}

/// One figure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StatedFigure {
    /// Its kind.
    pub name: String,
    /// Its value.
    pub value: f64,
    /// `ms`, `%`, `/s`; empty for a plain count.
    pub unit: String,
    /// How to read it.
    pub note: String,
}

/// A summary without the samples behind it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StatedSummary {
    /// Metrics and sub-metrics.
    pub metrics: Vec<StatedSeries>,
    /// Checks.
    pub checks: Vec<StatedCheckCount>,
}

/// A metric or sub-metric of a stated summary.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StatedSeries {
    /// `metric` or `metric{tag:value}`.
    pub name: String,
    /// `counter`, `gauge`, `rate`, `trend`.
    pub kind: String,
    /// `default`, `time`, `data`.
    pub contains: String,
    /// Statistics: counter `count`, `rate`; gauge `value`, `min`, `max`; rate `passes`, `total`; trend any.
    pub values: Vec<(String, f64)>,
    /// Its thresholds.
    pub thresholds: Vec<StatedVerdict>,
}

/// A threshold of a stated summary.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StatedVerdict {
    /// As written.
    pub source: String,
    /// Whether it held.
    pub ok: bool,
    /// The value that was compared, if it is stated.
    pub observed: Option<f64>,
}

/// A check of a stated summary.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StatedCheckCount {
    /// The names of its groups from the root, each after `::`.
    pub group: String,
    /// Its name.
    pub name: String,
    /// How often it held.
    pub passes: u64,
    /// How often it did not.
    pub fails: u64,
}

/// Windows in one transaction: a file that grows by the second is written each second, one that is read needs no such haste.
const WINDOWS_PER_TRANSACTION: usize = 60;

/// Writes the seconds of another tool's run. Unlike [`crate::Writer`] it has no queue that could overflow, and stores none of
/// this machine's clocks, which the run did not see.
pub struct ImportWriter {
    store: Store,
    pending: Vec<Arc<Window>>,
}

impl ImportWriter {
    /// Makes the file.
    ///
    /// # Errors
    /// The file exists already or cannot be made.
    pub fn create(
        path: &Path,
        header: &Header,
        registry: Arc<MetricRegistry>,
        tags: Arc<TagInterner>,
    ) -> Result<ImportWriter, WriteError> {
        let store = Store::create(path, header, registry, tags, true)?;
        Ok(ImportWriter { store, pending: Vec::new() })
    }

    /// Writes a window; they come in order of their indexes.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn window(&mut self, window: Window) -> Result<(), WriteError> {
        self.pending.push(Arc::new(window));
        if self.pending.len() < WINDOWS_PER_TRANSACTION {
            return Ok(());
        }
        self.flush()
    }

    /// Writes what waits and how the run ended, and leaves one plain file.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn finish(mut self, ending: &Ending) -> Result<(), WriteError> {
        self.flush()?;
        let compacted = self.store.compact(true);
        let ended = compacted.and_then(|()| self.store.transaction(|store| store.put_ending(ending, 0, 0)));
        ended.map_err(|source| self.failed(source))?;
        self.store.close()
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        let pending = std::mem::take(&mut self.pending);
        let written =
            self.store.transaction(|store| pending.iter().try_for_each(|window| store.put_window(window)));
        let done = written.and_then(|()| self.store.compact(false));
        done.map_err(|source| self.failed(source))
    }

    fn failed(&self, source: rusqlite::Error) -> WriteError {
        WriteError::Sqlite { path: self.store.path.clone(), source }
    }
}

impl std::fmt::Debug for ImportWriter {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("ImportWriter").field("path", &self.store.path).finish_non_exhaustive()
    }
}
