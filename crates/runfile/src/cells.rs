//! The cells of chunks and roll-ups read back, whichever format they are in.

use model::{Aggregate, MetricKind, SeriesKey};
use rusqlite::{Row, params};

use crate::ReadError;
use crate::brief::{BriefRoom, Cell, Want};
use crate::format::{FORMAT_OF_CELLS, SERIES_PER_BLOCK, TEN, block, cell, chunk};
use crate::reader::{Reader, RowError, UNKNOWN_NUMBER};

impl Reader {
    /// Of the cells of a minute, each of so many windows (1 or [`TEN`]), what is wanted of their series, where their
    /// positions are wanted.
    pub(crate) fn chunk_cells(
        &self,
        (minute, windows): (u32, u32),
        is_wanted: impl Fn(u32) -> bool,
        want: impl Fn(SeriesKey) -> Want,
        mut each: impl FnMut(u32, SeriesKey, Cell<'_>),
    ) -> Result<(), ReadError> {
        if self.format == FORMAT_OF_CELLS {
            return self.chunk_cells_of_series((minute, windows), is_wanted, want, each);
        }
        let sql = "SELECT block, cells FROM chunk WHERE minute = ? AND windows = ? ORDER BY block, part";
        self.rows(sql, params![minute, windows], |row| self.block_cells(row, &is_wanted, &want, &mut each))?;
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
            let each = &mut |_, key, cell: Cell<'_>| {
                if let Cell::Whole(aggregate) = cell {
                    each(key, aggregate);
                }
            };
            let want = |key| if wants(key) { Want::Whole } else { Want::Nothing };
            self.block_cells(row, &|position| position == 0, &want, each)
        })?;
        Ok(())
    }

    fn block_cells(
        &self,
        row: &Row<'_>,
        is_wanted: &impl Fn(u32) -> bool,
        want: &impl Fn(SeriesKey) -> Want,
        each: &mut impl FnMut(u32, SeriesKey, Cell<'_>),
    ) -> Result<(), RowError> {
        let first = row.get::<_, u32>(0)?.checked_mul(SERIES_PER_BLOCK).ok_or(UNKNOWN_NUMBER)?;
        // Asked once for each series, and not for each cell.
        let numbers = first..first.saturating_add(SERIES_PER_BLOCK);
        let series: Vec<(SeriesKey, MetricKind, Want)> = numbers
            .map_while(|number| self.series(number).ok())
            .map(|(key, kind)| (key, kind, want(key)))
            .collect();
        let known = |number: u32| series.get(number as usize).ok_or(RowError::Flaw(UNKNOWN_NUMBER));
        if !series.is_empty() && series.iter().all(|series| series.2 == Want::Nothing) {
            return Ok(());
        }
        let bytes = row.get_ref(1)?.as_blob().map_err(|_| "a blob is none")?;
        block::walk(
            bytes,
            &mut self.unpacker.borrow_mut(),
            |number, position| {
                let (_, kind, want) = known(number)?;
                Ok((*kind, if is_wanted(position) { *want } else { Want::Nothing }))
            },
            |number, position, cell| {
                each(position, known(number)?.0, cell);
                Ok(())
            },
        )
    }

    /// The first format: a row for each series, its seconds and its tens.
    fn chunk_cells_of_series(
        &self,
        (minute, windows): (u32, u32),
        is_wanted: impl Fn(u32) -> bool,
        want: impl Fn(SeriesKey) -> Want,
        mut each: impl FnMut(u32, SeriesKey, Cell<'_>),
    ) -> Result<(), ReadError> {
        let column = if windows == TEN { "tens" } else { "seconds" };
        let sql = format!("SELECT series, {column} FROM chunk WHERE minute = ? ORDER BY series");
        let mut room = BriefRoom::default();
        self.rows(&sql, [minute], |row| {
            let (key, kind) = self.series(row.get(0)?)?;
            let want = want(key);
            let bytes = self.unpack(row, 1)?;
            chunk::decode::<RowError>(
                &bytes,
                |position| Ok((kind, want != Want::Nothing && is_wanted(position))),
                |position, aggregate| {
                    each(position, key, room.cell(aggregate, want));
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
