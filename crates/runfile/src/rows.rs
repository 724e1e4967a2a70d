//! The rows that are no windows, read back.

use std::ops::Range;
use std::sync::Arc;

use model::{
    ErrorCount, Exemplar, ExemplarKind, Instant, LogLevel, Mark, Metadata, Quantile, ScenarioId, Work,
};
use rusqlite::{Row, params};

use crate::ReadError;
use crate::facts::{Anchor, LoadRow, Note, RunMark, StoredLog, ThresholdPoint};
use crate::reader::{Reader, RowError};
use crate::store::{exemplar_kind_name, mark_name, work_name};

/// More log lines than any file has: what SQLite can count.
const LINES_MAX: u64 = i64::MAX as u64;

impl Reader {
    /// When the scenarios began; `None` if they never did.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn scenarios_started(&self) -> Result<Option<Instant>, ReadError> {
        Ok(self.marks()?.into_iter().find(|mark| mark.kind == "scenarios_started").map(|mark| mark.at))
    }

    /// How every condition stood each time it was judged, in order of time.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn thresholds(&self) -> Result<Vec<ThresholdPoint>, ReadError> {
        let sql = "SELECT at_ns, selector, source, ok, observed, value, bound
                   FROM threshold_result JOIN threshold ON threshold.id = threshold ORDER BY at_ns, threshold";
        self.rows(sql, [], |row| {
            Ok(ThresholdPoint {
                at: instant(row, 0)?,
                selector: row.get(1)?,
                source: row.get(2)?,
                ok: row.get(3)?,
                observed: quantile(row)?,
                limit: float(row, 6)?,
            })
        })
    }

    /// The log lines, in order.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn log(&self) -> Result<Vec<StoredLog>, ReadError> {
        self.log_after(0, LINES_MAX)
    }

    /// How many log lines there are.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn log_count(&self) -> Result<u64, ReadError> {
        let counts = self.rows("SELECT count(*) FROM log", [], |row| Ok(row.get::<_, u64>(0)?))?;
        Ok(counts.first().copied().unwrap_or(0))
    }

    /// At most `count` log lines, in order, without the first `before`.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn log_after(&self, before: u64, count: u64) -> Result<Vec<StoredLog>, ReadError> {
        let sql = "SELECT at_ns, level, source, message, fields FROM log ORDER BY id LIMIT ? OFFSET ?";
        self.rows(sql, params![count.min(LINES_MAX), before.min(LINES_MAX)], |row| {
            let fields: String = row.get(4)?;
            Ok(StoredLog {
                at: instant(row, 0)?,
                level: level_named(&row.get::<_, String>(1)?).ok_or("a log line is of an unknown level")?,
                source: row.get(2)?,
                message: row.get(3)?,
                fields: serde_json::from_str(&fields).map_err(|_| "a log line's fields are no pairs")?,
            })
        })
    }

    /// The distinct errors of the whole run, the most frequent first.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn errors(&self) -> Result<Vec<ErrorCount>, ReadError> {
        self.errors_between(0..u32::MAX)
    }

    /// The distinct errors of a range of windows, the most frequent first.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn errors_between(&self, range: Range<u32>) -> Result<Vec<ErrorCount>, ReadError> {
        let sql = "SELECT code, message, tag_set, sum(count), example FROM error_count JOIN error ON error.id = error
                   WHERE window >= ? AND window < ? GROUP BY error.id ORDER BY sum(count) DESC, code, message";
        self.rows(sql, params![range.start, range.end], |row| self.error_count(row, 0))
    }

    /// The exemplars of a range of windows, in order of their windows.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn exemplars(&self, range: Range<u32>) -> Result<Vec<Exemplar>, ReadError> {
        Ok(self.exemplars_of(range)?.into_iter().map(|row| row.1).collect())
    }

    /// The load of a range of windows, in their order.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn load(&self, range: Range<u32>) -> Result<Vec<LoadRow>, ReadError> {
        let sql = "SELECT window, scenario, work, started, finished, in_flight_ns FROM load
                   WHERE window >= ? AND window < ? ORDER BY window, scenario, work";
        self.rows(sql, params![range.start, range.end], load_row)
    }

    /// The load of a range added up, by scenario and kind of work; `window` is the range's first.
    pub(crate) fn load_sum(&self, range: &Range<u32>) -> Result<Vec<LoadRow>, ReadError> {
        let sql =
            "SELECT min(window), scenario, work, sum(started), sum(finished), sum(in_flight_ns) FROM load
                   WHERE window >= ? AND window < ? GROUP BY scenario, work ORDER BY scenario, work";
        self.rows(sql, params![range.start, range.end], load_row)
    }

    /// Events, in order.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn marks(&self) -> Result<Vec<RunMark>, ReadError> {
        self.rows("SELECT at_ns, kind, text FROM event ORDER BY id", [], |row| {
            Ok(RunMark { at: instant(row, 0)?, kind: row.get(1)?, text: row.get(2)? })
        })
    }

    /// The remarks, in order.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn notes(&self) -> Result<Vec<Note>, ReadError> {
        self.rows("SELECT wall_ns, text FROM note ORDER BY id", [], |row| {
            Ok(Note { wall_unix_ns: row.get(0)?, text: row.get(1)? })
        })
    }

    /// Both clocks, once per window.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn anchors(&self) -> Result<Vec<Anchor>, ReadError> {
        self.rows("SELECT at_ns, wall_ns FROM anchor ORDER BY at_ns", [], |row| {
            Ok(Anchor { at: instant(row, 0)?, wall_unix_ns: row.get(1)? })
        })
    }

    /// The distinct errors of each window of a range, in order of the windows.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn errors_of(&self, range: Range<u32>) -> Result<Vec<(u32, ErrorCount)>, ReadError> {
        let sql = "SELECT window, code, message, tag_set, count, example FROM error_count
                   JOIN error ON error.id = error WHERE window >= ? AND window < ? ORDER BY window, error";
        self.rows(sql, params![range.start, range.end], |row| Ok((row.get(0)?, self.error_count(row, 1)?)))
    }

    pub(crate) fn exemplars_of(&self, range: Range<u32>) -> Result<Vec<(u32, Exemplar)>, ReadError> {
        let sql = "SELECT window, kind, metric, tag_set, at_ns, value, mark, trace_id, metadata FROM exemplar
                   WHERE window >= ? AND window < ? ORDER BY window, id";
        self.rows(sql, params![range.start, range.end], |row| {
            let trace_id: Option<[u8; 16]> = row.get(7)?;
            let exemplar = Exemplar {
                kind: exemplar_kind_named(&row.get::<_, String>(1)?)
                    .ok_or("an exemplar is of an unknown kind")?,
                metric: self.metric(row.get(2)?)?,
                tags: self.tag_set(row.get(3)?)?,
                at: instant(row, 4)?,
                value: float(row, 5)?,
                mark: mark_named(&row.get::<_, String>(6)?).ok_or("an exemplar has an unknown mark")?,
                trace_id: trace_id.map(u128::from_be_bytes),
                metadata: metadata(row.get(8)?)?,
            };
            Ok((row.get(0)?, exemplar))
        })
    }

    fn error_count(&self, row: &Row<'_>, first: usize) -> Result<ErrorCount, RowError> {
        Ok(ErrorCount {
            code: row.get(first)?,
            message: row.get(first + 1)?,
            tags: self.tag_set(row.get(first + 2)?)?,
            count: row.get(first + 3)?,
            example: row.get(first + 4)?,
        })
    }
}

fn load_row(row: &Row<'_>) -> Result<LoadRow, RowError> {
    let scenario: i32 = row.get(1)?;
    let scenario = match scenario {
        -1 => None,
        number => Some(ScenarioId(u16::try_from(number).map_err(|_| "a scenario's number is out of range")?)),
    };
    let work: String = row.get(2)?;
    Ok(LoadRow {
        window: row.get(0)?,
        scenario,
        work: [Work::Iterations, Work::Requests]
            .into_iter()
            .find(|known| work_name(*known) == work)
            .ok_or("a load is of an unknown kind")?,
        started: row.get(3)?,
        finished: row.get(4)?,
        in_flight_ns: row.get(5)?,
    })
}

fn instant(row: &Row<'_>, column: usize) -> Result<Instant, RowError> {
    Ok(Instant::from_ns(row.get(column)?))
}

/// SQLite keeps NaN as NULL.
fn float(row: &Row<'_>, column: usize) -> Result<f64, RowError> {
    Ok(row.get::<_, Option<f64>>(column)?.unwrap_or(f64::NAN))
}

fn quantile(row: &Row<'_>) -> Result<Quantile, RowError> {
    let observed: String = row.get(4)?;
    Ok(match observed.as_str() {
        "none" => Quantile::None,
        "value" => Quantile::Value(float(row, 5)?),
        "no_time" => Quantile::Failed,
        mark => Quantile::AtLeast {
            bound: float(row, 5)?,
            why: mark_named(mark).ok_or("a threshold compared something unknown")?,
        },
    })
}

fn metadata(json: Option<String>) -> Result<Option<Metadata>, RowError> {
    let Some(json) = json else { return Ok(None) };
    let pairs: Vec<(String, String)> =
        serde_json::from_str(&json).map_err(|_| "an exemplar's facts are no pairs")?;
    Ok(Some(pairs.into_iter().map(|(name, value)| (Arc::from(name), Arc::from(value))).collect()))
}

fn level_named(name: &str) -> Option<LogLevel> {
    [LogLevel::Debug, LogLevel::Info, LogLevel::Warn, LogLevel::Error]
        .into_iter()
        .find(|level| level.as_str() == name)
}

fn mark_named(name: &str) -> Option<Mark> {
    [Mark::Measured, Mark::TimedOut, Mark::Cut, Mark::Dropped, Mark::Failed]
        .into_iter()
        .find(|mark| mark_name(*mark) == name)
}

fn exemplar_kind_named(name: &str) -> Option<ExemplarKind> {
    [ExemplarKind::Slowest, ExemplarKind::Failed, ExemplarKind::Bucket]
        .into_iter()
        .find(|kind| exemplar_kind_name(*kind) == name)
}
