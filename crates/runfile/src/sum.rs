//! A range of windows added up from the coarsest roll-ups that tile it.

use std::ops::Range;

use model::{Aggregate, Instant, SeriesKey, Window};
use rusqlite::params;
use rustc_hash::FxHashMap;

use crate::ReadError;
use crate::brief::{Cell, Want};
use crate::format::{FIVE_MINUTES, MINUTE, TEN, TEN_MINUTES, WHOLE};
use crate::reader::Reader;

impl Reader {
    /// All series, loads and errors of a range, added up; no exemplars. Uses roll-ups, so that an hour costs as little as a
    /// minute. Exactly what merging all windows of the range gives; `index` and `start` are the first window's, `end` is the
    /// last one's.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn sum(&self, range: Range<u32>) -> Result<Window, ReadError> {
        let known = self.range()?;
        let range = range.start.max(known.start)..range.end.min(known.end);
        if range.is_empty() {
            return Ok(Window::default());
        }
        let mut sum = Sum { reader: self, known, series: FxHashMap::default() };
        sum.add(range.clone())?;
        let mut series: Vec<_> = sum.series.into_iter().collect();
        series.sort_unstable_by_key(|series| series.0);
        let (index, start, end) = self.ends(&range)?;
        let load = self.load_sum(&range)?.into_iter().map(|row| model::Load {
            scenario: row.scenario,
            work: row.work,
            started: row.started,
            finished: row.finished,
            in_flight_ns: row.in_flight_ns,
        });
        Ok(Window {
            index,
            start,
            end,
            series,
            load: load.collect(),
            exemplars: Vec::new(),
            errors: self.errors_between(range)?,
        })
    }

    fn ends(&self, range: &Range<u32>) -> Result<(u32, Instant, Instant), ReadError> {
        let sql = "SELECT min(id), min(start_ns), max(end_ns) FROM windows WHERE id >= ? AND id < ?";
        let ends: (Option<u32>, Option<u64>, Option<u64>) = self
            .connection
            .query_row(sql, params![range.start, range.end], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })
            .map_err(|error| self.error(error))?;
        let instant = |ns: Option<u64>| Instant::from_ns(ns.unwrap_or(0));
        Ok((ends.0.unwrap_or(range.start), instant(ends.1), instant(ends.2)))
    }
}

struct Sum<'a> {
    reader: &'a Reader,
    /// All windows of the run.
    known: Range<u32>,
    series: FxHashMap<SeriesKey, Aggregate>,
}

impl Sum<'_> {
    fn add(&mut self, range: Range<u32>) -> Result<(), ReadError> {
        if range == self.known && self.reader.has_rollup(WHOLE, 0)? {
            return self.add_rollup(WHOLE, 0);
        }
        self.add_tiles(range, TEN_MINUTES)
    }

    /// Adds a range by tiles of `windows` each; what is no whole tile, by smaller ones.
    fn add_tiles(&mut self, range: Range<u32>, windows: u32) -> Result<(), ReadError> {
        if windows < MINUTE {
            return self.add_within_minute(range);
        }
        let mut at = range.start;
        while at < range.end {
            let number = at / windows;
            let tile = number * windows..number * windows + windows;
            let part = at..tile.end.min(range.end);
            // The run's first and last tile may be shorter than a whole one.
            let whole = tile.start.max(self.known.start)..tile.end.min(self.known.end);
            match part == whole && self.reader.has_rollup(windows, number)? {
                true => self.add_rollup(windows, number)?,
                false => self.add_tiles(part.clone(), smaller(windows))?,
            }
            at = part.end;
        }
        Ok(())
    }

    /// Adds a range within one minute: whole tens if there are any, and seconds around them.
    fn add_within_minute(&mut self, range: Range<u32>) -> Result<(), ReadError> {
        let minute = range.start / MINUTE;
        let tens = range.start.div_ceil(TEN) * TEN..range.end / TEN * TEN;
        if tens.start >= tens.end || !self.reader.has_rollup(MINUTE, minute)? {
            return self.add_seconds(range);
        }
        let series = &mut self.series;
        let start_of = |ten: u32| minute * MINUTE + ten.min(MINUTE) * TEN;
        self.reader.chunk_cells(
            (minute, TEN),
            |ten| tens.contains(&start_of(ten)),
            |_| Want::Whole,
            |_, key, cell| merge_cell(series, key, cell),
        )?;
        self.add_seconds(range.start..tens.start)?;
        self.add_seconds(tens.end..range.end)
    }

    fn add_seconds(&mut self, range: Range<u32>) -> Result<(), ReadError> {
        if range.is_empty() {
            return Ok(());
        }
        let series = &mut self.series;
        self.reader.cells(range, |_| Want::Whole, |_, key, cell| merge_cell(series, key, cell))
    }

    fn add_rollup(&mut self, windows: u32, number: u32) -> Result<(), ReadError> {
        let series = &mut self.series;
        self.reader.rollup_cells((windows, number), |_| true, |key, aggregate| merge(series, key, aggregate))
    }
}

/// The next smaller size of tiles.
fn smaller(windows: u32) -> u32 {
    match windows {
        TEN_MINUTES => FIVE_MINUTES,
        FIVE_MINUTES => MINUTE,
        _ => TEN,
    }
}

fn merge_cell(series: &mut FxHashMap<SeriesKey, Aggregate>, key: SeriesKey, cell: Cell<'_>) {
    if let Cell::Whole(aggregate) = cell {
        merge(series, key, aggregate);
    }
}

fn merge(series: &mut FxHashMap<SeriesKey, Aggregate>, key: SeriesKey, aggregate: Aggregate) {
    match series.entry(key) {
        std::collections::hash_map::Entry::Occupied(mut known) => known.get_mut().merge(&aggregate),
        std::collections::hash_map::Entry::Vacant(unknown) => {
            unknown.insert(aggregate);
        }
    }
}
