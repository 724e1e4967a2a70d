//! A range of windows added up step by step, from roll-ups where they hold a whole step.

use std::ops::Range;

use model::SeriesKey;
use rusqlite::{OptionalExtension, params};

use crate::ReadError;
use crate::brief::{Cell, Want};
use crate::format::{FIVE_MINUTES, MINUTE, TEN, TEN_MINUTES};
use crate::reader::Reader;

/// Windows of a step: those that a file has roll-ups of, and single ones.
pub const STEPS: [u32; 5] = [1, TEN, MINUTE, FIVE_MINUTES, TEN_MINUTES];

impl Reader {
    /// Gives the cells of the wanted series to `each`, in no order and some of one step in several parts: the first window
    /// of the cell's step, its series and what was measured. Steps begin at multiples of `step`, which is one of [`STEPS`].
    ///
    /// # Errors
    /// The file is damaged.
    pub fn steps(
        &self,
        range: Range<u32>,
        step: u32,
        is_wanted: impl Fn(SeriesKey) -> bool,
        mut each: impl FnMut(u32, SeriesKey, Cell<'_>),
    ) -> Result<(), ReadError> {
        let known = self.range()?;
        let range = range.start.max(known.start)..range.end.min(known.end);
        let size = step.max(MINUTE);
        let mut at = range.start;
        while at < range.end {
            let number = at / size;
            let tile = number * size..number.saturating_add(1).saturating_mul(size);
            let part = at..tile.end.min(range.end);
            // The run's first and last tile may be shorter than a whole one.
            let is_whole = part == (tile.start.max(known.start)..tile.end.min(known.end));
            if step >= MINUTE && is_whole && self.has_rollup(step, number)? {
                let start = tile.start;
                self.rollup_cells((step, number), &is_wanted, |key, cell| each(start, key, cell))?;
            } else {
                self.small_steps(part.clone(), step, &is_wanted, &mut each)?;
            }
            at = part.end;
        }
        Ok(())
    }

    /// The same for a range within a tile that has no roll-up.
    fn small_steps(
        &self,
        range: Range<u32>,
        step: u32,
        is_wanted: &impl Fn(SeriesKey) -> bool,
        each: &mut impl FnMut(u32, SeriesKey, Cell<'_>),
    ) -> Result<(), ReadError> {
        let want = |key: SeriesKey| if is_wanted(key) { Want::Whole } else { Want::Nothing };
        let mut each = |start: u32, key: SeriesKey, cell: Cell<'_>| each(start / step * step, key, cell);
        for minute in self.minutes(range)? {
            let tens = minute.start.div_ceil(TEN) * TEN..minute.end / TEN * TEN;
            if step < TEN || tens.start >= tens.end || !self.has_rollup(MINUTE, minute.start / MINUTE)? {
                self.cells(minute, want, &mut each)?;
                continue;
            }
            let number = minute.start / MINUTE;
            let start_of = |ten: u32| number * MINUTE + ten.min(MINUTE) * TEN;
            self.chunk_cells(
                (number, TEN),
                |ten| tens.contains(&start_of(ten)),
                want,
                |ten, key, cell| each(start_of(ten), key, cell),
            )?;
            for rest in [minute.start..tens.start, tens.end..minute.end] {
                if !rest.is_empty() {
                    self.cells(rest, want, &mut each)?;
                }
            }
        }
        Ok(())
    }

    /// Whether a file has this roll-up.
    pub(crate) fn has_rollup(&self, windows: u32, number: u32) -> Result<bool, ReadError> {
        let sql = "SELECT 1 FROM rolled WHERE windows = ? AND number = ?";
        let found = self
            .connection
            .prepare_cached(sql)
            .and_then(|mut statement| statement.query_row(params![windows, number], |_| Ok(())).optional());
        found.map(|found| found.is_some()).map_err(|error| self.error(error))
    }
}
