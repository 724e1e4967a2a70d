//! A range of windows added up from the coarsest roll-ups that tile it.

mod parallel;

use std::ops::Range;

use model::{Aggregate, Instant, SeriesKey, Window};
use rusqlite::params;
use rustc_hash::FxHashMap;

use crate::ReadError;
use crate::brief::{Cell, Want};
use crate::cells::{Blocks, Places};
use crate::format::{FIVE_MINUTES, FORMAT_OF_CELLS, MINUTE, TEN, TEN_MINUTES, WHOLE};
use crate::reader::Reader;

/// The sums of series.
type Sums = FxHashMap<SeriesKey, Aggregate>;

impl Reader {
    /// All series, loads and errors of a range, added up; no exemplars. Uses roll-ups, so that an hour costs as little as a
    /// minute, and all cores. Exactly what merging all windows of the range gives; `index` and `start` are the first
    /// window's, `end` is the last one's.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn sum(&self, range: Range<u32>) -> Result<Window, ReadError> {
        self.sum_on(parallel::cores(), range)
    }

    /// The same on no more than so many threads.
    pub(crate) fn sum_on(&self, threads: usize, range: Range<u32>) -> Result<Window, ReadError> {
        let known = self.range()?;
        let range = range.start.max(known.start)..range.end.min(known.end);
        if range.is_empty() {
            return Ok(Window::default());
        }
        let mut plan = Plan { reader: self, known, pieces: Vec::new() };
        plan.add(range.clone())?;
        let mut series: Vec<_> = self.add_up(threads, &plan.pieces)?.into_iter().collect();
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
            leased: Vec::new(),
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

    fn add_up(&self, threads: usize, pieces: &[Piece]) -> Result<Sums, ReadError> {
        let mut sums = Sums::default();
        if self.format == FORMAT_OF_CELLS {
            for piece in pieces {
                self.add_piece_of_series(piece, &mut sums)?;
            }
        } else {
            let blocks = pieces.iter().map(|piece| (piece.blocks, piece.places));
            sums = self.add_blocks(threads, blocks)?;
        }
        for piece in pieces {
            if let Blocks::Chunk { minute, windows: 1 } = piece.blocks {
                let each = |_, key, cell: Cell<'_>| add(&mut sums, key, cell);
                self.tail_cells(minute, piece.places, |_| Want::Whole, each)?;
            }
        }
        Ok(sums)
    }

    /// The first format.
    fn add_piece_of_series(&self, piece: &Piece, sums: &mut Sums) -> Result<(), ReadError> {
        match piece.blocks {
            Blocks::Chunk { minute, windows } => self.chunk_cells(
                (minute, windows),
                |position| piece.places.contains(position),
                |_| Want::Whole,
                |_, key, cell| add(sums, key, cell),
            ),
            Blocks::Rollup { windows, number } => {
                self.rollup_cells((windows, number), |_| true, |key, cell| add(sums, key, cell))
            }
        }
    }
}

/// The parts of a file that a sum reads.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Piece {
    blocks: Blocks,
    /// The cells that are added.
    places: Places,
}

/// The pieces that tile a range.
struct Plan<'a> {
    reader: &'a Reader,
    /// All windows of the run.
    known: Range<u32>,
    pieces: Vec<Piece>,
}

impl Plan<'_> {
    fn add(&mut self, range: Range<u32>) -> Result<(), ReadError> {
        if range == self.known && self.reader.has_rollup(WHOLE, 0)? {
            self.add_rollup(WHOLE, 0);
            return Ok(());
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
                true => self.add_rollup(windows, number),
                false => self.add_tiles(part.clone(), smaller(windows))?,
            }
            at = part.end;
        }
        Ok(())
    }

    /// Adds a range within one minute: whole tens if there are any, and seconds around them.
    fn add_within_minute(&mut self, range: Range<u32>) -> Result<(), ReadError> {
        let minute = range.start / MINUTE;
        let within = range.start % MINUTE..range.end - minute * MINUTE;
        let tens = within.start.div_ceil(TEN)..within.end / TEN;
        let seconds = Places::from_range(within.clone());
        if tens.is_empty() || !self.reader.has_rollup(MINUTE, minute)? {
            self.add_cells(minute, 1, seconds);
            return Ok(());
        }
        self.add_cells(minute, TEN, Places::from_range(tens.clone()));
        self.add_cells(minute, 1, seconds.without(Places::from_range(tens.start * TEN..tens.end * TEN)));
        Ok(())
    }

    fn add_cells(&mut self, minute: u32, windows: u32, places: Places) {
        if !places.is_empty() {
            self.pieces.push(Piece { blocks: Blocks::Chunk { minute, windows }, places });
        }
    }

    fn add_rollup(&mut self, windows: u32, number: u32) {
        self.pieces
            .push(Piece { blocks: Blocks::Rollup { windows, number }, places: Places::from_range(0..1) });
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

fn add(sums: &mut Sums, key: SeriesKey, cell: Cell<'_>) {
    match sums.entry(key) {
        std::collections::hash_map::Entry::Occupied(mut known) => cell.add_to(known.get_mut()),
        std::collections::hash_map::Entry::Vacant(unknown) => {
            if let Some(aggregate) = cell.into_aggregate() {
                unknown.insert(aggregate);
            }
        }
    }
}
