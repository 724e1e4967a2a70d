//! A minute's rows become chunks and roll-ups; ten minutes' roll-ups become one.
//!
//! Only a minute's windows are in memory, and of longer roll-ups one series at a time: what a long run costs is disk.

use std::collections::BTreeMap;
use std::sync::Arc;

use histo::Values;
use model::{Aggregate, MetricKind, SeriesKey, Trend, Window};
use rusqlite::params;

use crate::format::{FIVE_MINUTES, MINUTE, TEN, TEN_MINUTES, WHOLE, cell, chunk};
use crate::store::{SeriesState, Store, too_big};

/// Windows that wait to be compacted while the disk refuses; older minutes stay in the tail.
const OPEN_WINDOWS_MAX: usize = 600;

impl Store {
    /// Compacts every minute that is over: those before the newest window's. With `all`, that one too.
    pub(crate) fn compact(&mut self, all: bool) -> rusqlite::Result<()> {
        let Some(last) = self.last_window else { return Ok(()) };
        let end = last / MINUTE + u32::from(all);
        while let Some(minute) = self.first_open_minute().filter(|minute| *minute < end) {
            self.compact_minute(minute)?;
            let next = self.first_open_minute();
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

    fn first_open_minute(&self) -> Option<u32> {
        self.open_windows.first().map(|window| window.index / MINUTE)
    }

    fn compact_minute(&mut self, minute: u32) -> rusqlite::Result<()> {
        let (of_minute, rest): (Vec<Arc<Window>>, Vec<Arc<Window>>) = std::mem::take(&mut self.open_windows)
            .into_iter()
            .partition(|window| window.index / MINUTE == minute);
        let mut counted = Vec::new();
        let done = self.transaction(|store| {
            counted = store.write_minute(minute, &of_minute)?;
            Ok(())
        });
        // What could not be compacted is still in the tail, where readers find it; it is tried again with the next minute.
        // A minute that fails for very long stays there for good, so that memory stays bounded.
        let give_up = of_minute.len() + rest.len() > OPEN_WINDOWS_MAX;
        self.open_windows = if done.is_ok() || give_up { rest } else { [of_minute, rest].concat() };
        done?;
        for (id, counts) in counted {
            self.series[id as usize].counts = counts;
        }
        Ok(())
    }

    /// Writes a minute's chunks and its roll-up; gives the new counts of its series.
    fn write_minute(
        &mut self,
        minute: u32,
        windows: &[Arc<Window>],
    ) -> rusqlite::Result<Vec<(u32, [u64; 3])>> {
        let mut by_series: BTreeMap<SeriesKey, Vec<(u32, &Aggregate)>> = BTreeMap::new();
        for window in windows {
            for (key, aggregate) in &window.series {
                by_series.entry(*key).or_default().push((window.index % MINUTE, aggregate));
            }
        }
        let mut counted = Vec::with_capacity(by_series.len());
        for (id, state) in self.series.clone().iter().enumerate() {
            let Some(cells) = by_series.get(&state.key) else { continue };
            let id = id as u32;
            let counts = cells.iter().fold(state.counts, |counts, cell| add(counts, counts_of(cell.1)));
            self.write_series(minute, id, cells, SeriesState::is_inexact(counts))?;
            counted.push((id, counts));
        }
        self.execute(
            "DELETE FROM tail WHERE window >= ? AND window < ?",
            params![minute * MINUTE, (minute + 1) * MINUTE],
        )?;
        self.mark_rolled(MINUTE, minute)?;
        Ok(counted)
    }

    fn write_series(
        &mut self,
        minute: u32,
        series: u32,
        cells: &[(u32, &Aggregate)],
        inexact: [bool; 3],
    ) -> rusqlite::Result<()> {
        let seconds: Vec<(u32, Aggregate)> =
            cells.iter().map(|(second, aggregate)| (*second, without_raw(aggregate, inexact))).collect();
        let tens = merged(seconds.iter().map(|(second, aggregate)| (second / TEN, aggregate)));
        let whole = merged(tens.iter().map(|(_, aggregate)| (0, aggregate)));
        let blob = |store: &mut Store, cells: &[(u32, Aggregate)]| {
            let bytes = chunk::encode(cells.iter().map(|(position, aggregate)| (*position, aggregate)));
            store.packer.pack(&bytes).ok_or_else(too_big)
        };
        let (seconds, tens) = (blob(self, &seconds)?, blob(self, &tens)?);
        self.execute(
            "INSERT INTO chunk (minute, series, seconds, tens) VALUES (?, ?, ?, ?)",
            params![minute, series, seconds, tens],
        )?;
        whole.iter().try_for_each(|(_, aggregate)| self.write_rollup(MINUTE, minute, series, aggregate))
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
        let mut sums: Option<(u32, Aggregate)> = None;
        let connection = &self.connection;
        // The order makes SQLite sort into a table of its own first, so that rows can be added meanwhile.
        let mut statement = connection.prepare_cached(
            "SELECT series, cell FROM rollup WHERE windows = ? AND number BETWEEN ? AND ? ORDER BY +series, number",
        )?;
        let mut written = Vec::new();
        let mut packer = crate::format::blob::Packer::new();
        let mut unpacker = crate::format::blob::Unpacker::new();
        let mut rows = statement.query(params![from, numbers.0, numbers.1])?;
        let mut insert = connection
            .prepare_cached("INSERT INTO rollup (windows, number, series, cell) VALUES (?, ?, ?, ?)")?;
        let mut write = |(series, sum): (u32, Aggregate)| -> rusqlite::Result<()> {
            written.clear();
            cell::encode(&sum, &mut written);
            let blob = packer.pack(&written).ok_or_else(too_big)?;
            insert.execute(params![into, number, series, blob])?;
            Ok(())
        };
        while let Some(row) = rows.next()? {
            let series: u32 = row.get(0)?;
            let kind = self.series.get(series as usize).map_or(MetricKind::Counter, |state| state.kind);
            let bytes = unpacker.unpack(row.get_ref(1)?.as_blob()?).map_err(damaged)?;
            let part = cell::decode(kind, &mut &bytes[..]).map_err(damaged)?;
            match &mut sums {
                Some((of, sum)) if *of == series => sum.merge(&part),
                _ => {
                    if let Some(done) = sums.replace((series, part)) {
                        write(done)?;
                    }
                }
            }
        }
        sums.map_or(Ok(()), write)?;
        self.mark_rolled(into, number)
    }

    fn write_rollup(
        &mut self,
        windows: u32,
        number: u32,
        series: u32,
        aggregate: &Aggregate,
    ) -> rusqlite::Result<()> {
        let mut bytes = Vec::new();
        cell::encode(aggregate, &mut bytes);
        let blob = self.packer.pack(&bytes).ok_or_else(too_big)?;
        self.execute(
            "INSERT INTO rollup (windows, number, series, cell) VALUES (?, ?, ?, ?)",
            params![windows, number, series, blob],
        )?;
        Ok(())
    }

    fn mark_rolled(&self, windows: u32, number: u32) -> rusqlite::Result<()> {
        self.execute("INSERT INTO rolled (windows, number) VALUES (?, ?)", params![windows, number])?;
        Ok(())
    }
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
fn without_raw(aggregate: &Aggregate, inexact: [bool; 3]) -> Aggregate {
    let Aggregate::Trend(trend) = aggregate else { return aggregate.clone() };
    let convert = |values: &Values, is_inexact: bool| match is_inexact && values.count() > 0 {
        true => {
            let mut histogram = Values::inexact();
            histogram.merge(values);
            histogram
        }
        false => values.clone(),
    };
    let failures = trend.failures.as_ref().map(|failures| {
        let mut failures = failures.clone();
        failures.timed_out = convert(&failures.timed_out, inexact[1]);
        failures.cut = convert(&failures.cut, inexact[2]);
        failures
    });
    Aggregate::Trend(Trend { values: convert(&trend.values, inexact[0]), failures })
}
