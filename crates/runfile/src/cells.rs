//! The cells of chunks and roll-ups read back, whichever format they are in.

use model::{Aggregate, SeriesKey};
use rusqlite::{Row, params};

use crate::ReadError;
use crate::format::{FORMAT_OF_CELLS, SERIES_PER_BLOCK, TEN, block, cell, chunk};
use crate::reader::{Reader, RowError, UNKNOWN_NUMBER};

impl Reader {
    /// The cells of a minute, each of so many windows (1 or [`TEN`]), whose series and positions are wanted.
    pub(crate) fn chunk_cells(
        &self,
        (minute, windows): (u32, u32),
        wants: impl Fn(SeriesKey) -> bool,
        is_wanted: impl Fn(u32) -> bool,
        mut each: impl FnMut(u32, SeriesKey, Aggregate),
    ) -> Result<(), ReadError> {
        if self.format == FORMAT_OF_CELLS {
            return self.chunk_cells_of_series((minute, windows), wants, is_wanted, each);
        }
        let sql = "SELECT block, cells FROM chunk WHERE minute = ? AND windows = ? ORDER BY block, part";
        self.rows(sql, params![minute, windows], |row| self.block_cells(row, &wants, &is_wanted, &mut each))?;
        Ok(())
    }

    /// The cells of a roll-up whose series are wanted.
    pub(crate) fn rollup_cells(
        &self,
        (windows, number): (u32, u32),
        wants: impl Fn(SeriesKey) -> bool,
        mut each: impl FnMut(SeriesKey, Aggregate),
    ) -> Result<(), ReadError> {
        if self.format == FORMAT_OF_CELLS {
            return self.rollup_cells_of_series((windows, number), wants, each);
        }
        let sql = "SELECT block, cells FROM rollup WHERE windows = ? AND number = ? ORDER BY block, part";
        self.rows(sql, params![windows, number], |row| {
            self.block_cells(row, &wants, &|position| position == 0, &mut |_, key, aggregate| {
                each(key, aggregate)
            })
        })?;
        Ok(())
    }

    fn block_cells(
        &self,
        row: &Row<'_>,
        wants: &impl Fn(SeriesKey) -> bool,
        is_wanted: &impl Fn(u32) -> bool,
        each: &mut impl FnMut(u32, SeriesKey, Aggregate),
    ) -> Result<(), RowError> {
        let first = row.get::<_, u32>(0)?.checked_mul(SERIES_PER_BLOCK).ok_or(UNKNOWN_NUMBER)?;
        let number = |series: u32| first.checked_add(series).ok_or(RowError::Flaw(UNKNOWN_NUMBER));
        let bytes = row.get_ref(1)?.as_blob().map_err(|_| "a blob is none")?;
        block::decode(
            bytes,
            &mut self.unpacker.borrow_mut(),
            |series| {
                let (key, kind) = self.series(number(series)?)?;
                Ok((kind, wants(key)))
            },
            is_wanted,
            |series, position, aggregate| {
                each(position, self.series(number(series)?)?.0, aggregate);
                Ok(())
            },
        )
    }

    /// The first format: a row for each series, its seconds and its tens.
    fn chunk_cells_of_series(
        &self,
        (minute, windows): (u32, u32),
        wants: impl Fn(SeriesKey) -> bool,
        is_wanted: impl Fn(u32) -> bool,
        mut each: impl FnMut(u32, SeriesKey, Aggregate),
    ) -> Result<(), ReadError> {
        let column = if windows == TEN { "tens" } else { "seconds" };
        let sql = format!("SELECT series, {column} FROM chunk WHERE minute = ? ORDER BY series");
        self.rows(&sql, [minute], |row| {
            let (key, kind) = self.series(row.get(0)?)?;
            if !wants(key) {
                return Ok(());
            }
            let bytes = self.unpack(row, 1)?;
            chunk::decode::<RowError>(
                &bytes,
                |position| Ok((kind, is_wanted(position))),
                |position, aggregate| {
                    each(position, key, aggregate);
                    Ok(())
                },
            )
        })?;
        Ok(())
    }

    /// The first format: a row for each series.
    fn rollup_cells_of_series(
        &self,
        (windows, number): (u32, u32),
        wants: impl Fn(SeriesKey) -> bool,
        mut each: impl FnMut(SeriesKey, Aggregate),
    ) -> Result<(), ReadError> {
        let sql = "SELECT series, cell FROM rollup WHERE windows = ? AND number = ?";
        self.rows(sql, [windows, number], |row| {
            let (key, kind) = self.series(row.get(0)?)?;
            if !wants(key) {
                return Ok(());
            }
            let bytes = self.unpack(row, 1)?;
            let mut rest = &bytes[..];
            let aggregate = cell::decode(kind, &mut rest)?;
            if !rest.is_empty() {
                return Err(RowError::Flaw("bytes are left over after a cell"));
            }
            each(key, aggregate);
            Ok(())
        })?;
        Ok(())
    }
}
