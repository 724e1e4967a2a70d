//! A minute's rows become chunks and roll-ups; ten minutes' roll-ups become one.
//!
//! Of a minute its bytes are in memory while it is compacted, and the cells of one series at a time: what a long run costs is
//! disk.

use std::borrow::Cow;

use histo::Values;
use model::{Aggregate, MetricKind};
use rusqlite::params;

use crate::format::blob::Unpacker;
use crate::format::block::{self, BlockWriter};
use crate::format::cell::Flaw;
use crate::format::chunk::Cells;
use crate::format::{FIVE_MINUTES, MINUTE, SERIES_PER_BLOCK, TEN, TEN_MINUTES, WHOLE};
use crate::reader::UNKNOWN_NUMBER;
use crate::seal::block_crc32;
use crate::store::{SeriesState, Store, too_big};

/// Minutes that wait to be compacted while the disk refuses; older ones stay in the tail.
const OPEN_MINUTES_MAX: usize = 10;

impl Store {
    /// Compacts every minute that is over: those before the newest window's. With `all`, that one too.
    pub(crate) fn compact(&mut self, all: bool) -> rusqlite::Result<()> {
        let Some(last) = self.last_window else { return Ok(()) };
        let end = last / MINUTE + u32::from(all);
        while let Some(minute) = self.open_minutes.first().copied().filter(|minute| *minute < end) {
            self.compact_minute(minute)?;
            let next = self.open_minutes.first().copied();
            for windows in [FIVE_MINUTES, TEN_MINUTES] {
                let minutes = windows / MINUTE;
                let number = minute / minutes;
                if next.map_or(all, |next| next / minutes > number) {
                    let numbers = (number * minutes, number * minutes + minutes - 1);
                    self.transaction(|store| store.roll(MINUTE, numbers, windows, number))?;
                }
            }
        }
        if all {
            self.transaction(|store| store.roll(TEN_MINUTES, (0, last / TEN_MINUTES), WHOLE, 0))?;
        }
        Ok(())
    }

    fn compact_minute(&mut self, minute: u32) -> rusqlite::Result<()> {
        let mut counted = Vec::new();
        let done = self.transaction(|store| {
            counted = store.write_minute(minute)?;
            Ok(())
        });
        // A minute that could not be compacted is still in the tail, where readers find it; it is tried again with the next window.
        // Minutes that fail for very long stay there for good, so that the next ones have their turn.
        if done.is_ok() || self.open_minutes.len() > OPEN_MINUTES_MAX {
            self.open_minutes.retain(|open| *open != minute);
        }
        done?;
        for (id, counts) in counted {
            self.series[id as usize].counts = counts;
        }
        // The pages that it was read from are not needed again.
        self.connection.execute_batch("PRAGMA shrink_memory")
    }

    /// Writes a minute's chunks and its roll-up; gives the new counts of its series.
    fn write_minute(&mut self, minute: u32) -> rusqlite::Result<Vec<(u32, [u64; 3])>> {
        let tail = self.tail_of(minute)?;
        let cells = tail.iter().map(|(second, row)| Ok((*second, Cells::new(row)?)));
        let mut seconds = cells.collect::<Result<Vec<_>, Flaw>>().map_err(damaged)?;
        let mut rows = MinuteRows {
            seconds: Rows::new(CHUNK, (minute, 1)),
            tens: Rows::new(CHUNK, (minute, TEN)),
            whole: Rows::new(ROLLUP, (MINUTE, minute)),
        };
        let mut counted = Vec::new();
        for id in 0..self.series.len() as u32 {
            let state = self.series[id as usize];
            let cells = take_series(&mut seconds, id, state.kind).map_err(damaged)?;
            if cells.is_empty() {
                continue;
            }
            let counts = cells.iter().fold(state.counts, |counts, cell| add(counts, counts_of(&cell.1)));
            rows.write_series(self, id, &cells, SeriesState::is_inexact(counts))?;
            counted.push((id, counts));
        }
        if seconds.iter().any(|(_, cells)| cells.position().is_some()) {
            return Err(damaged(UNKNOWN_NUMBER));
        }
        for rows in [&mut rows.seconds, &mut rows.tens, &mut rows.whole] {
            rows.end(self)?;
        }
        self.execute(
            "DELETE FROM tail WHERE window >= ? AND window < ?",
            params![minute * MINUTE, (minute + 1) * MINUTE],
        )?;
        self.mark_rolled(MINUTE, minute)?;
        Ok(counted)
    }

    /// The rows of the tail of a minute, in order: the second within the minute, and its cells.
    fn tail_of(&self, minute: u32) -> rusqlite::Result<Vec<(u32, Vec<u8>)>> {
        let mut unpacker = Unpacker::new();
        let mut statement = self.connection.prepare_cached(
            "SELECT window, cells FROM tail WHERE window >= ? AND window < ? ORDER BY window, part",
        )?;
        let rows = statement.query_map(params![minute * MINUTE, (minute + 1) * MINUTE], |row| {
            let cells = unpacker.unpack(row.get_ref(1)?.as_blob()?).map_err(damaged)?;
            Ok((row.get::<_, u32>(0)? % MINUTE, cells))
        })?;
        rows.collect()
    }

    /// Adds up the roll-ups `numbers` (first and last) of one size into one of another, if none of them is missing.
    fn roll(&mut self, from: u32, numbers: (u32, u32), into: u32, number: u32) -> rusqlite::Result<()> {
        let is_complete: bool = self.connection.query_row(
            "SELECT (SELECT count(*) FROM rolled WHERE windows = ?1 AND number BETWEEN ?2 AND ?3)
                  = (SELECT count(DISTINCT id / ?1) FROM windows WHERE id / ?1 BETWEEN ?2 AND ?3)",
            params![from, numbers.0, numbers.1],
            |row| row.get(0),
        )?;
        if !is_complete {
            return Ok(());
        }
        let mut rows = Rows::new(ROLLUP, (into, number));
        let mut unpacker = Unpacker::new();
        for first in (0..self.series.len() as u32).step_by(SERIES_PER_BLOCK as usize) {
            let sums = self.sum_block(from, numbers, first, &mut unpacker)?;
            for (series, sum) in sums.iter().enumerate() {
                if let Some(sum) = sum {
                    rows.push(self, first + series as u32, 0, sum)?;
                }
            }
        }
        rows.end(self)?;
        self.mark_rolled(into, number)
    }

    /// Adds up the roll-ups of the block whose first series this is.
    fn sum_block(
        &self,
        from: u32,
        numbers: (u32, u32),
        first: u32,
        unpacker: &mut Unpacker,
    ) -> rusqlite::Result<Vec<Option<Aggregate>>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT cells FROM rollup WHERE windows = ? AND number BETWEEN ? AND ? AND block = ? ORDER BY number, part",
        )?;
        let mut rows = statement.query(params![from, numbers.0, numbers.1, first / SERIES_PER_BLOCK])?;
        let mut sums: Vec<Option<Aggregate>> = vec![None; SERIES_PER_BLOCK as usize];
        while let Some(row) = rows.next()? {
            let kind_of = |series: u32| match self.series.get((first + series) as usize) {
                Some(state) => Ok(state.kind),
                None => Err(UNKNOWN_NUMBER),
            };
            let done: Result<(), Flaw> =
                block::decode(row.get_ref(0)?.as_blob()?, unpacker, kind_of, |series, _, cell| {
                    match sums.get_mut(series as usize).ok_or(UNKNOWN_NUMBER)? {
                        Some(sum) => cell.add_to(sum),
                        sum => *sum = cell.into_aggregate(),
                    }
                    Ok(())
                });
            done.map_err(damaged)?;
        }
        Ok(sums)
    }

    fn mark_rolled(&self, windows: u32, number: u32) -> rusqlite::Result<()> {
        self.execute("INSERT INTO rolled (windows, number) VALUES (?, ?)", params![windows, number])?;
        Ok(())
    }
}

const CHUNK: &str =
    "INSERT INTO chunk (minute, windows, block, part, crc32, cells) VALUES (?, ?, ?, ?, ?, ?)";
const ROLLUP: &str =
    "INSERT INTO rollup (windows, number, block, part, crc32, cells) VALUES (?, ?, ?, ?, ?, ?)";

/// Blocks on their way into a table, one at a time.
struct Rows {
    sql: &'static str,
    /// The first columns of the rows.
    key: (u32, u32),
    block: u32,
    part: u32,
    cells: BlockWriter,
}

impl Rows {
    fn new(sql: &'static str, key: (u32, u32)) -> Rows {
        Rows { sql, key, block: 0, part: 0, cells: BlockWriter::default() }
    }

    /// Adds a cell; series and positions ascend.
    fn push(
        &mut self,
        store: &mut Store,
        series: u32,
        position: u32,
        aggregate: &Aggregate,
    ) -> rusqlite::Result<()> {
        if series / SERIES_PER_BLOCK != self.block {
            self.end(store)?;
            (self.block, self.part) = (series / SERIES_PER_BLOCK, 0);
        }
        self.cells.push(series, position, aggregate);
        if self.cells.is_full() { self.end(store) } else { Ok(()) }
    }

    /// Writes what is left.
    fn end(&mut self, store: &mut Store) -> rusqlite::Result<()> {
        if self.cells.is_empty() {
            return Ok(());
        }
        let cells = self.cells.take(&mut store.packer).ok_or_else(too_big)?;
        let crc32 = block_crc32([self.key.0, self.key.1, self.block, self.part], &cells);
        store.execute(self.sql, params![self.key.0, self.key.1, self.block, self.part, crc32, cells])?;
        self.part += 1;
        Ok(())
    }
}

/// A minute's rows.
struct MinuteRows {
    seconds: Rows,
    tens: Rows,
    whole: Rows,
}

impl MinuteRows {
    fn write_series(
        &mut self,
        store: &mut Store,
        series: u32,
        cells: &[(u32, Aggregate)],
        inexact: [bool; 3],
    ) -> rusqlite::Result<()> {
        let seconds: Vec<(u32, Cow<'_, Aggregate>)> =
            cells.iter().map(|(second, aggregate)| (*second, without_raw(aggregate, inexact))).collect();
        for (second, aggregate) in &seconds {
            self.seconds.push(store, series, *second, aggregate)?;
        }
        let tens = merged(seconds.iter().map(|(second, aggregate)| (second / TEN, &**aggregate)));
        let whole = merged(tens.iter().map(|(_, aggregate)| (0, aggregate)));
        for (rows, cells) in [(&mut self.tens, tens), (&mut self.whole, whole)] {
            for (position, aggregate) in &cells {
                rows.push(store, series, *position, aggregate)?;
            }
        }
        Ok(())
    }
}

/// Takes the next series out of a minute's rows, if it is this one: each second and its cell.
fn take_series(
    seconds: &mut [(u32, Cells<'_>)],
    id: u32,
    kind: MetricKind,
) -> Result<Vec<(u32, Aggregate)>, Flaw> {
    let having = seconds.iter_mut().filter(|(_, cells)| cells.position() == Some(id));
    having.map(|(second, cells)| Ok((*second, cells.take(kind)?))).collect()
}

/// Our own bytes came back wrong: the disk or the memory is broken.
fn damaged(flaw: &'static str) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(1, rusqlite::types::Type::Blob, flaw.into())
}

/// Neighbours with the same position become one.
fn merged<'a>(cells: impl Iterator<Item = (u32, &'a Aggregate)>) -> Vec<(u32, Aggregate)> {
    let mut merged: Vec<(u32, Aggregate)> = Vec::new();
    for (position, aggregate) in cells {
        match merged.last_mut() {
            Some((last, sum)) if *last == position => sum.merge(aggregate),
            _ => merged.push((position, aggregate.clone())),
        }
    }
    merged
}

/// How many values of each kind that can be raw.
fn counts_of(aggregate: &Aggregate) -> [u64; 3] {
    let Aggregate::Trend(trend) = aggregate else { return [0; 3] };
    let failures = trend.failures.as_ref();
    [
        trend.values.count(),
        failures.map_or(0, |failures| failures.timed_out.count()),
        failures.map_or(0, |failures| failures.cut.count()),
    ]
}

fn add(a: [u64; 3], b: [u64; 3]) -> [u64; 3] {
    std::array::from_fn(|i| a[i].saturating_add(b[i]))
}

/// The aggregate, its raw values counted into histograms where the whole run has too many of them to keep. Whatever it is
/// merged into would count them the same way, so that no total changes by a bit.
pub(crate) fn without_raw(aggregate: &Aggregate, inexact: [bool; 3]) -> Cow<'_, Aggregate> {
    let Aggregate::Trend(trend) = aggregate else { return Cow::Borrowed(aggregate) };
    let failures = trend.failures.as_deref();
    let is_raw = |values: &Values| values.is_exact() && values.count() > 0;
    let has_raw = inexact[0] && is_raw(&trend.values)
        || inexact[1] && failures.is_some_and(|failures| is_raw(&failures.timed_out))
        || inexact[2] && failures.is_some_and(|failures| is_raw(&failures.cut));
    if !has_raw {
        return Cow::Borrowed(aggregate);
    }
    let count = |values: &mut Values, is_inexact: bool| {
        if is_inexact && is_raw(values) {
            let raw = std::mem::replace(values, Values::inexact());
            values.merge(&raw);
        }
    };
    let mut trend = trend.clone();
    count(&mut trend.values, inexact[0]);
    if let Some(failures) = &mut trend.failures {
        count(&mut failures.timed_out, inexact[1]);
        count(&mut failures.cut, inexact[2]);
    }
    Cow::Owned(Aggregate::Trend(trend))
}
