//! The file while it is written: rows go in, in transactions that either hold or never were.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use histo::EXACT_MAX;
use model::metric::builtin;
use model::{
    Aggregate, ErrorCount, Exemplar, ExemplarKind, LogLine, Mark, Metric, MetricKind, MetricRegistry,
    Quantile, SeriesKey, SystemTag, TagInterner, TagSetId, ThresholdResult, Window, Work,
};
use redact::Redactor;
use rusqlite::{Connection, OpenFlags, params};
use rustc_hash::FxHashMap;

use crate::compact::without_raw;
use crate::evidence::{EvidenceMarks, Pen};
use crate::facts::Anchor;
use crate::format::blob::Packer;
use crate::format::{APPLICATION_ID, FORMAT_VERSION, MINUTE, chunk, schema};
use crate::lock::Lock;
use crate::redo::Redo;
use crate::seal::{self, Owners};
use crate::{Ending, Header, WriteError, hidden};

/// Log lines kept per run.
pub(crate) const LOG_LINES_MAX: u64 = 20_000;
/// Bytes of log lines kept per run.
pub(crate) const LOG_BYTES_MAX: u64 = 16 << 20;
/// Bytes kept of one log line, and of every other text that a script or a server chose.
pub(crate) const TEXT_BYTES_MAX: usize = 64 << 10;
/// Exemplars kept per run: more than an hour's. When there are more, every second one goes, so that what stays is spread
/// over the whole run.
pub(crate) const EXEMPLARS_MAX: u64 = 50_000;
/// Threshold results kept per run: a day of ten conditions.
pub(crate) const THRESHOLD_RESULTS_MAX: u64 = 864_000;
/// Distinct errors kept per run; further ones are counted together under an empty message.
pub(crate) const ERRORS_MAX: usize = 10_000;
/// Bytes of one row of the tail, before its last cell: a second of very many series takes several rows.
const TAIL_BYTES: usize = 4 << 20;
/// System tags whose values no script and no server chooses.
const OWN_VALUES: &[SystemTag] = &[
    SystemTag::Proto,
    SystemTag::Status,
    SystemTag::ErrorCode,
    SystemTag::TlsVersion,
    SystemTag::ExpectedResponse,
];

/// Series in one row of the tail.
const TAIL_SERIES: usize = 4096;

/// A run's file, open for writing.
pub(crate) struct Store {
    pub(crate) connection: Connection,
    pub(crate) path: PathBuf,
    pub(crate) packer: Packer,
    registry: Arc<MetricRegistry>,
    tags: Arc<TagInterner>,
    redactor: Redactor,
    /// By id; what the file knows of each series.
    pub(crate) series: Vec<SeriesState>,
    series_ids: FxHashMap<SeriesKey, u32>,
    errors: FxHashMap<(u16, Arc<str>), i64>,
    thresholds: FxHashMap<(String, String), i64>,
    /// Minutes that are in the tail and no chunks yet, in order.
    pub(crate) open_minutes: Vec<u32>,
    pub(crate) last_window: Option<u32>,
    marks: Marks,
    /// Dropped after the connection; `None` where the file has no readers while it is written.
    pub(crate) redo: Option<Redo>,
    _lock: Option<Lock>,
}

/// The file's knowledge of a series.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SeriesState {
    pub(crate) kind: MetricKind,
    /// Values of the whole run so far: measured, timed out, cut. Past [`EXACT_MAX`] none is raw any more.
    pub(crate) counts: [u64; 3],
}

/// Numbers that go back when a transaction does.
#[derive(Clone, Copy, Debug, Default)]
struct Marks {
    metrics: usize,
    tag_sets: usize,
    series: usize,
    last_window: Option<u32>,
    open_minutes: usize,
    errors: i64,
    thresholds: i64,
    log_lines: u64,
    log_bytes: u64,
    log_lines_lost: u64,
    exemplars: u64,
    exemplars_lost: u64,
    threshold_results: u64,
    threshold_results_lost: u64,
    windows_lost: u64,
    evidence: EvidenceMarks,
}

/// Pages that SQLite keeps: rows are added at the end and a minute is read back once, so more of them save nothing.
const PAGE_CACHE_KIB: i64 = 512;

impl Store {
    /// Makes the file. With `live`, others see that it is being written.
    pub(crate) fn create(
        path: &Path,
        header: &Header,
        registry: Arc<MetricRegistry>,
        tags: Arc<TagInterner>,
        live: bool,
    ) -> Result<Store, WriteError> {
        let create = |source: std::io::Error| match source.kind() {
            std::io::ErrorKind::AlreadyExists => WriteError::Exists(path.to_owned()),
            _ => WriteError::Create { path: path.to_owned(), source },
        };
        std::fs::OpenOptions::new().write(true).create_new(true).open(path).map_err(create)?;
        let made = Store::fill(path, header, registry, tags, live, create);
        if made.is_err() {
            // Nothing but an empty shell of ours is there.
            let _ = std::fs::remove_file(path);
        }
        made
    }

    fn fill(
        path: &Path,
        header: &Header,
        registry: Arc<MetricRegistry>,
        tags: Arc<TagInterner>,
        live: bool,
        create: impl Fn(std::io::Error) -> WriteError,
    ) -> Result<Store, WriteError> {
        let lock = live.then(|| Lock::take(path)).transpose().map_err(&create)?;
        let (header, redactor) = hidden::header(header);
        let sqlite = |source| WriteError::Sqlite { path: path.to_owned(), source };
        let connection =
            Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(sqlite)?;
        let mut store = Store {
            connection,
            path: path.to_owned(),
            packer: Packer::new(),
            registry,
            tags,
            redactor,
            series: Vec::new(),
            series_ids: FxHashMap::default(),
            errors: FxHashMap::default(),
            thresholds: FxHashMap::default(),
            open_minutes: Vec::new(),
            last_window: None,
            marks: Marks::default(),
            redo: None,
            _lock: lock,
        };
        store.begin_file(&header).map_err(sqlite)?;
        if live {
            store.begin_settling().map_err(&create)?;
        }
        Ok(store)
    }

    fn begin_file(&mut self, header: &Header) -> rusqlite::Result<()> {
        self.connection.set_prepared_statement_cache_capacity(64);
        self.connection.busy_timeout(std::time::Duration::from_secs(5))?;
        self.connection.pragma_update(None, "application_id", APPLICATION_ID)?;
        self.connection.pragma_update(None, "user_version", FORMAT_VERSION)?;
        self.connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
        self.connection.pragma_update(None, "synchronous", "NORMAL")?;
        self.connection.pragma_update(None, "cache_size", -PAGE_CACHE_KIB)?;
        self.connection.execute_batch("BEGIN IMMEDIATE")?;
        self.connection.execute_batch(&schema::tables(FORMAT_VERSION))?;
        self.put_facts("run", header)?;
        for module in &header.modules {
            let text = self.packer.pack(module.text.as_bytes()).unwrap_or_default();
            self.execute(
                "INSERT INTO module (path, sha256, text) VALUES (?, ?, ?)",
                params![module.path, module.sha256, text],
            )?;
        }
        for variable in &header.environment {
            self.execute(
                "INSERT INTO environment (name, value) VALUES (?, ?)",
                params![variable.name, variable.value],
            )?;
        }
        self.connection.execute_batch("COMMIT")
    }

    fn begin_settling(&mut self) -> std::io::Result<()> {
        let page_bytes = self.connection.query_row("PRAGMA page_size", [], |row| row.get(0));
        let mut redo = Redo::open(&self.path, page_bytes.map_err(std::io::Error::other)?)?;
        // Pages are brought into the file by `settle` alone.
        self.connection
            .query_row("PRAGMA wal_autocheckpoint = 0", [], |_| Ok(()))
            .map_err(std::io::Error::other)?;
        redo.settle(&self.connection);
        self.redo = Some(redo);
        Ok(())
    }

    /// Brings what was written into the file itself, so that it is whole without what is beside it.
    pub(crate) fn settle(&mut self) {
        if let Some(redo) = &mut self.redo {
            redo.settle(&self.connection);
        }
    }

    /// Whether the file was deleted, or its folder.
    pub(crate) fn is_gone(&self) -> bool {
        self.redo.as_ref().is_some_and(|redo| redo.is_gone(&self.path))
    }

    /// The statements that write evidence.
    pub(crate) fn pen(&mut self) -> Pen<'_> {
        Pen {
            connection: &self.connection,
            packer: &mut self.packer,
            redactor: &self.redactor,
            marks: &mut self.marks.evidence,
        }
    }

    /// Points, records, gaps, spans and operations' tens that did not fit.
    pub(crate) fn evidence_lost(&self) -> u64 {
        self.marks.evidence.lost
    }

    /// Runs `work` in one transaction: all of it is in the file, or none.
    pub(crate) fn transaction(
        &mut self,
        work: impl FnOnce(&mut Store) -> rusqlite::Result<()>,
    ) -> rusqlite::Result<()> {
        let before = Marks {
            series: self.series.len(),
            last_window: self.last_window,
            open_minutes: self.open_minutes.len(),
            ..self.marks
        };
        let begun = self.connection.execute_batch("BEGIN IMMEDIATE");
        let done = begun.and_then(|()| work(self)).and_then(|()| self.connection.execute_batch("COMMIT"));
        if done.is_err() {
            self.roll_back(before);
        }
        done
    }

    fn roll_back(&mut self, before: Marks) {
        if !self.connection.is_autocommit() {
            // Where this fails too, the transaction is over when the connection is.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        self.series.truncate(before.series);
        self.series_ids.retain(|_, id| (*id as usize) < before.series);
        self.errors.retain(|_, id| *id <= before.errors);
        self.thresholds.retain(|_, id| *id <= before.thresholds);
        self.open_minutes.truncate(before.open_minutes);
        self.last_window = before.last_window;
        self.marks = before;
    }

    pub(crate) fn execute(&self, sql: &str, params: impl rusqlite::Params) -> rusqlite::Result<usize> {
        self.connection.prepare_cached(sql)?.execute(params)
    }

    /// One row per fact, its value as JSON: a newer build can add facts without a newer format.
    pub(crate) fn put_facts(&self, table: &str, facts: &impl serde::Serialize) -> rusqlite::Result<()> {
        let value = serde_json::to_value(facts)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
        for (key, value) in value.as_object().into_iter().flatten() {
            let sql = format!("INSERT OR REPLACE INTO {table} (key, value) VALUES (?, ?)");
            self.execute(&sql, params![key, value.to_string()])?;
        }
        Ok(())
    }

    /// Adds a window to the tail.
    pub(crate) fn put_window(&mut self, window: &Window) -> rusqlite::Result<()> {
        if self.last_window >= Some(window.index) {
            // Its minute may be a chunk already. The engine counts upwards, so this is a bug that must not pass unseen.
            self.marks.windows_lost += 1;
            return Ok(());
        }
        self.put_names()?;
        self.execute(
            "INSERT INTO windows (id, start_ns, end_ns) VALUES (?, ?, ?)",
            params![window.index, signed(window.start.as_ns()), signed(window.end.as_ns())],
        )?;
        self.put_cells(window)?;
        for load in &window.load {
            self.execute(
                "INSERT OR REPLACE INTO load VALUES (?, ?, ?, ?, ?, ?)",
                params![
                    window.index,
                    load.scenario.map_or(-1, |scenario| i32::from(scenario.0)),
                    work_name(load.work),
                    signed(load.started),
                    signed(load.finished),
                    signed(load.in_flight_ns)
                ],
            )?;
        }
        for error in &window.errors {
            self.put_error(window.index, error)?;
        }
        for exemplar in &window.exemplars {
            self.put_exemplar(window.index, exemplar)?;
        }
        self.last_window = Some(window.index);
        let minute = window.index / MINUTE;
        if self.open_minutes.last() != Some(&minute) {
            self.open_minutes.push(minute);
        }
        Ok(())
    }

    fn put_cells(&mut self, window: &Window) -> rusqlite::Result<()> {
        let mut cells = Vec::with_capacity(window.series.len());
        for (key, aggregate) in &window.series {
            let id = self.series_id(*key, aggregate)?;
            // A minute of raw values is read back at once; where they will not stay raw, they need not be so until then.
            let inexact = SeriesState::is_inexact(self.series[id as usize].counts);
            cells.push((id, without_raw(aggregate, inexact)));
        }
        cells.sort_unstable_by_key(|cell| cell.0);
        let mut rest = &cells[..];
        let mut part = 0;
        while !rest.is_empty() {
            let (row, taken) = tail_row(rest);
            let blob = self.packer.pack(&row).ok_or_else(too_big)?;
            self.execute(
                "INSERT INTO tail (window, part, cells) VALUES (?, ?, ?)",
                params![window.index, part, blob],
            )?;
            rest = &rest[taken..];
            part += 1;
        }
        Ok(())
    }

    fn series_id(&mut self, key: SeriesKey, aggregate: &Aggregate) -> rusqlite::Result<u32> {
        if let Some(id) = self.series_ids.get(&key) {
            return Ok(*id);
        }
        let id = u32::try_from(self.series.len()).map_err(|_| too_big())?;
        self.execute(
            "INSERT INTO series (id, metric, tag_set) VALUES (?, ?, ?)",
            params![id, key.metric.0, key.tags.0],
        )?;
        self.series_ids.insert(key, id);
        self.series.push(SeriesState { kind: kind_of(aggregate), counts: [0; 3] });
        Ok(id)
    }

    /// Adds the metrics and tag sets that are not in the file yet. Both only ever grow.
    fn put_names(&mut self) -> rusqlite::Result<()> {
        let metrics = self.registry.all();
        for metric in &metrics[self.marks.metrics.min(metrics.len())..] {
            self.execute(
                "INSERT INTO metric (id, name, kind, contains) VALUES (?, ?, ?, ?)",
                params![
                    metric.id.0,
                    self.metric_name(metric),
                    metric.kind.as_str(),
                    metric.contains.as_str()
                ],
            )?;
        }
        self.marks.metrics = metrics.len();
        let tag_sets = self.tags.len();
        for id in self.marks.tag_sets..tag_sets {
            let id = TagSetId(u32::try_from(id).map_err(|_| too_big())?);
            let set = self.tags.get(id);
            // Sets that differ in secrets only become equal; a reader adds up their series.
            let pairs = set.iter().map(|(name, value)| self.tag(name, value).map(Cow::into_owned).to_vec());
            let tags = serde_json::Value::from_iter(pairs);
            self.execute("INSERT INTO tag_set (id, tags) VALUES (?, ?)", params![id.0, tags.to_string()])?;
        }
        self.marks.tag_sets = tag_sets;
        Ok(())
    }

    /// A tag without secrets. The names of system tags are the program's own, and so are the values of some.
    fn tag<'t>(&self, name: &'t str, value: &'t str) -> [Cow<'t, str>; 2] {
        match SystemTag::ALL.iter().find(|tag| tag.as_str() == name) {
            Some(tag) if OWN_VALUES.contains(tag) => [name.into(), value.into()],
            Some(_) => [name.into(), self.redactor.scrub(value)],
            None => [self.redactor.scrub(name), self.redactor.scrub(value)],
        }
    }

    /// Two names may differ in nothing but their secrets, and no two metrics have one name.
    fn metric_name(&self, metric: &Metric) -> String {
        if usize::from(metric.id.0) < builtin::TABLE.len() {
            return metric.name.to_string();
        }
        match self.redactor.scrub(&metric.name) {
            Cow::Borrowed(name) => name.to_owned(),
            Cow::Owned(name) => format!("{name}_{}", metric.id.0),
        }
    }

    fn put_error(&mut self, window: u32, error: &ErrorCount) -> rusqlite::Result<()> {
        let mut key = (error.code, Arc::<str>::from(self.text(&error.message)));
        if self.errors.len() >= ERRORS_MAX && !self.errors.contains_key(&key) {
            key = (0, "".into());
        }
        let id = match self.errors.get(&key) {
            Some(id) => *id,
            None => {
                self.execute(
                    "INSERT INTO error (id, code, message, tag_set, example) VALUES (?, ?, ?, ?, ?)",
                    params![self.marks.errors + 1, key.0, &*key.1, error.tags.0, self.text(&error.example)],
                )?;
                self.marks.errors += 1;
                self.errors.insert(key, self.marks.errors);
                self.marks.errors
            }
        };
        self.execute(
            "INSERT INTO error_count (window, error, count) VALUES (?, ?, ?)
             ON CONFLICT DO UPDATE SET count = count + excluded.count",
            params![window, id, signed(error.count)],
        )?;
        Ok(())
    }

    fn put_exemplar(&mut self, window: u32, exemplar: &Exemplar) -> rusqlite::Result<()> {
        if self.marks.exemplars >= EXEMPLARS_MAX {
            self.thin_exemplars()?;
        }
        self.marks.exemplars += 1;
        let metadata = exemplar.metadata.as_ref().map(|metadata| {
            serde_json::Value::from_iter(
                metadata.iter().map(|(name, value)| vec![self.text(name), self.text(value)]),
            )
        });
        self.execute(
            "INSERT INTO exemplar (window, kind, metric, tag_set, at_ns, value, mark, trace_id, metadata)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            params![
                window,
                exemplar_kind_name(exemplar.kind),
                exemplar.metric.0,
                exemplar.tags.0,
                signed(exemplar.at.as_ns()),
                exemplar.value,
                mark_name(exemplar.mark),
                exemplar.trace_id.map(u128::to_be_bytes),
                metadata.map(|metadata| metadata.to_string()),
            ],
        )?;
        Ok(())
    }

    fn thin_exemplars(&mut self) -> rusqlite::Result<()> {
        let deleted = self.execute(
            "DELETE FROM exemplar WHERE id IN
                (SELECT id FROM (SELECT id, row_number() OVER (ORDER BY id) AS place FROM exemplar) WHERE place % 2 = 0)",
            [],
        )?;
        self.marks.exemplars = self.marks.exemplars.saturating_sub(deleted as u64);
        self.marks.exemplars_lost += deleted as u64;
        Ok(())
    }

    /// Adds both clocks.
    pub(crate) fn put_anchor(&self, anchor: Anchor) -> rusqlite::Result<()> {
        self.execute(
            "INSERT OR REPLACE INTO anchor (at_ns, wall_ns) VALUES (?, ?)",
            params![signed(anchor.at.as_ns()), anchor.wall_unix_ns],
        )?;
        Ok(())
    }

    /// Adds how the thresholds stand.
    pub(crate) fn put_thresholds(&mut self, at_ns: u64, results: &[ThresholdResult]) -> rusqlite::Result<()> {
        for result in results {
            if self.marks.threshold_results >= THRESHOLD_RESULTS_MAX {
                self.marks.threshold_results_lost += 1;
                continue;
            }
            self.marks.threshold_results += 1;
            let threshold = self.threshold_id(result)?;
            let (observed, value) = quantile_parts(&result.observed);
            self.execute(
                "INSERT OR REPLACE INTO threshold_result (at_ns, threshold, ok, observed, value)
                 VALUES (?, ?, ?, ?, ?)",
                params![signed(at_ns), threshold, result.ok, observed, value],
            )?;
        }
        Ok(())
    }

    fn threshold_id(&mut self, result: &ThresholdResult) -> rusqlite::Result<i64> {
        let key = (self.text(&result.selector), self.text(&result.source));
        if let Some(id) = self.thresholds.get(&key) {
            return Ok(*id);
        }
        self.execute(
            "INSERT INTO threshold (id, selector, source, bound) VALUES (?, ?, ?, ?)",
            params![self.marks.thresholds + 1, key.0, key.1, result.limit],
        )?;
        self.marks.thresholds += 1;
        self.thresholds.insert(key, self.marks.thresholds);
        Ok(self.marks.thresholds)
    }

    /// Adds a line of log.
    pub(crate) fn put_log(&mut self, line: &LogLine) -> rusqlite::Result<()> {
        let message = self.text(&line.message);
        let fields = line.fields.iter().map(|(name, value)| vec![(*name).to_owned(), self.text(value)]);
        let fields = serde_json::Value::from_iter(fields).to_string();
        self.put_log_row(line.at.as_ns(), line.level.as_str(), line.source, &message, &fields)
    }

    /// Adds a line of log whose secrets are hidden already.
    pub(crate) fn put_log_row(
        &mut self,
        at_ns: u64,
        level: &str,
        source: &str,
        message: &str,
        fields: &str,
    ) -> rusqlite::Result<()> {
        let bytes = (message.len() + fields.len()) as u64;
        if self.marks.log_lines >= LOG_LINES_MAX || self.marks.log_bytes + bytes > LOG_BYTES_MAX {
            self.marks.log_lines_lost += 1;
            return Ok(());
        }
        self.execute(
            "INSERT INTO log (at_ns, level, source, message, fields) VALUES (?, ?, ?, ?, ?)",
            params![signed(at_ns), level, source, message, fields],
        )?;
        self.marks.log_lines += 1;
        self.marks.log_bytes += bytes;
        Ok(())
    }

    /// Adds something that happened once.
    pub(crate) fn put_event(&self, at_ns: u64, kind: &str, text: &str) -> rusqlite::Result<()> {
        self.execute(
            "INSERT INTO event (at_ns, kind, text) VALUES (?, ?, ?)",
            params![signed(at_ns), kind, self.text(text)],
        )?;
        Ok(())
    }

    /// Adds a remark.
    pub(crate) fn put_note(&self, wall_ns: i64, text: &str) -> rusqlite::Result<()> {
        let text = self.text(text);
        self.execute("INSERT INTO note (wall_ns, text) VALUES (?, ?)", params![wall_ns, text])?;
        Ok(())
    }

    /// Adds how the run ended, with what the store itself lost.
    pub(crate) fn put_ending(
        &mut self,
        ending: &Ending,
        windows_lost: u64,
        log_lines_lost: u64,
    ) -> rusqlite::Result<()> {
        self.put_names()?;
        let ending = Ending {
            windows_lost: self.marks.windows_lost + windows_lost,
            log_lines_lost: self.marks.log_lines_lost + log_lines_lost,
            exemplars_lost: self.marks.exemplars_lost,
            threshold_results_lost: self.marks.threshold_results_lost,
            aborted: ending.aborted.as_deref().map(|reason| self.text(reason)),
            ..ending.clone()
        };
        self.put_facts("ending", &ending)
    }

    /// Makes one plain file of it: what the log holds goes into the file, the log goes away, and a complete run gets its seal.
    pub(crate) fn close(self) -> Result<(), WriteError> {
        let path = self.path.clone();
        let failed = |source| WriteError::Sqlite { path: path.clone(), source };
        self.connection.flush_prepared_statement_cache();
        let owners = self.make_plain().map_err(failed)?;
        let Store { connection, redo, _lock, .. } = self;
        drop(connection);
        drop(redo);
        let Some(owners) = owners else { return Ok(()) };
        seal::write(&path, &owners).map_err(|source| WriteError::Seal { path, source })
    }

    /// Gives whose its pages are, if the run is complete.
    fn make_plain(&self) -> rusqlite::Result<Option<Owners>> {
        self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        let mode: String = self.connection.query_row("PRAGMA journal_mode = DELETE", [], |row| row.get(0))?;
        if mode != "delete" {
            return Err(rusqlite::Error::InvalidQuery);
        }
        let has_ended =
            self.connection.query_row("SELECT count(*) FROM ending", [], |row| row.get::<_, i64>(0))? > 0;
        if has_ended { Owners::read(&self.connection).map(Some) } else { Ok(None) }
    }

    /// Windows and log lines that were refused.
    pub(crate) fn lost(&self) -> (u64, u64) {
        (self.marks.windows_lost, self.marks.log_lines_lost)
    }

    /// A text that a script or a server chose, fit to be kept.
    fn text(&self, text: &str) -> String {
        let text = self.redactor.scrub(text);
        text[..text.floor_char_boundary(TEXT_BYTES_MAX)].to_owned()
    }
}

impl SeriesState {
    /// Which of its three kinds of values are raw no more.
    pub(crate) fn is_inexact(counts: [u64; 3]) -> [bool; 3] {
        counts.map(|count| count > EXACT_MAX as u64)
    }
}

/// One row of the tail, and how many cells it took.
fn tail_row(cells: &[(u32, Cow<'_, Aggregate>)]) -> (Vec<u8>, usize) {
    let mut take = cells.len().min(TAIL_SERIES);
    loop {
        let row = chunk::encode(cells[..take].iter().map(|(id, aggregate)| (*id, &**aggregate)));
        if row.len() <= TAIL_BYTES || take == 1 {
            return (row, take);
        }
        take /= 2;
    }
}

pub(crate) fn too_big() -> rusqlite::Error {
    rusqlite::Error::ToSqlConversionFailure("a row would be larger than any reader accepts".into())
}

/// SQLite's integers are signed; 292 years of nanoseconds are enough.
pub(crate) fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

fn kind_of(aggregate: &Aggregate) -> MetricKind {
    match aggregate {
        Aggregate::Counter(_) => MetricKind::Counter,
        Aggregate::Gauge(_) => MetricKind::Gauge,
        Aggregate::Rate(_) => MetricKind::Rate,
        Aggregate::Trend(_) => MetricKind::Trend,
    }
}

pub(crate) fn work_name(work: Work) -> &'static str {
    match work {
        Work::Iterations => "iterations",
        Work::Requests => "requests",
    }
}

pub(crate) fn exemplar_kind_name(kind: ExemplarKind) -> &'static str {
    match kind {
        ExemplarKind::Slowest => "slowest",
        ExemplarKind::Failed => "failed",
        ExemplarKind::Bucket => "bucket",
    }
}

pub(crate) fn mark_name(mark: Mark) -> &'static str {
    match mark {
        Mark::Measured => "measured",
        Mark::TimedOut => "timed_out",
        Mark::Cut => "cut",
        Mark::Dropped => "dropped",
        Mark::Failed => "failed",
    }
}

/// The compared value, as a word and a number.
fn quantile_parts(quantile: &Quantile) -> (&'static str, Option<f64>) {
    match quantile {
        Quantile::None => ("none", None),
        Quantile::Value(value) => ("value", Some(*value)),
        Quantile::AtLeast { bound, why } => (mark_name(*why), Some(*bound)),
        Quantile::Failed => ("no_time", None),
    }
}
