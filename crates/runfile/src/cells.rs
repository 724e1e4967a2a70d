//! The cells of chunks and roll-ups read back, whichever format they are in.

use std::ops::Range;

use model::{MetricKind, SeriesKey};
use rusqlite::params;

use crate::ReadError;
use crate::brief::{BriefRoom, Cell, Want};
use crate::format::blob::Unpacker;
use crate::format::{
    FORMAT_OF_CELLS, FORMAT_OF_CHECKSUMS, MINUTE, SERIES_PER_BLOCK, TEN, WHOLE, block, cell, chunk,
};
use crate::reader::{Reader, RowError, UNKNOWN_NUMBER};
use crate::seal::block_crc32;

/// Where blocks are in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blocks {
    /// A minute's cells, each of so many windows (1 or [`TEN`]).
    Chunk { minute: u32, windows: u32 },
    /// A roll-up of so many windows.
    Rollup { windows: u32, number: u32 },
}

impl Blocks {
    /// Describes a block of these that does not match its checksum.
    fn damage(self) -> String {
        let place = match self {
            Blocks::Chunk { minute, windows: 1 } => format!("the seconds of minute {minute}"),
            Blocks::Chunk { minute, .. } => format!("the tens of minute {minute}"),
            Blocks::Rollup { windows: WHOLE, .. } => "the totals of the run".to_owned(),
            Blocks::Rollup { windows, number } => format!("the totals of {windows} s, number {number}"),
        };
        format!("{place} do not match their checksum; other minutes and tables can be read")
    }
}

/// Places of cells within a minute, a bit for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Places(u64);

impl Places {
    /// The places of a range; what is beyond a minute is none.
    pub(crate) fn from_range(range: Range<u32>) -> Places {
        let below = |end: u32| (1u64 << end.min(MINUTE)) - 1;
        Places(below(range.end) & !below(range.start))
    }

    pub(crate) fn without(self, others: Places) -> Places {
        Places(self.0 & !others.0)
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn contains(self, place: u32) -> bool {
        place < MINUTE && self.0 >> place & 1 == 1
    }
}

/// The series of a block, with what is wanted of each.
pub(crate) struct SeriesOf(Vec<(SeriesKey, MetricKind, Want)>);

impl SeriesOf {
    /// Those from `first` on; asked once for each series, and not for each cell.
    pub(crate) fn new(
        all: &[(SeriesKey, MetricKind)],
        first: u32,
        want: impl Fn(SeriesKey) -> Want,
    ) -> SeriesOf {
        let series = all.iter().skip(first as usize).take(SERIES_PER_BLOCK as usize);
        SeriesOf(series.map(|(key, kind)| (*key, *kind, want(*key))).collect())
    }

    /// Gives of each cell of the block what is wanted to `each`, where its position is.
    pub(crate) fn cells(
        &self,
        bytes: &[u8],
        unpacker: &mut Unpacker,
        is_wanted: impl Fn(u32) -> bool,
        mut each: impl FnMut(u32, SeriesKey, Cell<'_>),
    ) -> Result<(), RowError> {
        let SeriesOf(series) = self;
        if !series.is_empty() && series.iter().all(|series| series.2 == Want::Nothing) {
            return Ok(());
        }
        let known = |number: u32| series.get(number as usize).ok_or(RowError::Flaw(UNKNOWN_NUMBER));
        block::walk(
            bytes,
            unpacker,
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
}

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
        self.block_rows(Blocks::Chunk { minute, windows }, |first, bytes| {
            let series = SeriesOf::new(self.all_series(), first, &want);
            series.cells(bytes, &mut self.unpacker.borrow_mut(), &is_wanted, &mut each)
        })
    }

    /// The cells of a roll-up whose series are wanted.
    pub(crate) fn rollup_cells(
        &self,
        (windows, number): (u32, u32),
        wants: impl Fn(SeriesKey) -> bool,
        mut each: impl FnMut(SeriesKey, Cell<'_>),
    ) -> Result<(), ReadError> {
        if self.format == FORMAT_OF_CELLS {
            return self.rollup_cells_of_series((windows, number), wants, each);
        }
        let want = |key| if wants(key) { Want::Whole } else { Want::Nothing };
        self.block_rows(Blocks::Rollup { windows, number }, |first, bytes| {
            let series = SeriesOf::new(self.all_series(), first, want);
            let each = |_, key, cell: Cell<'_>| each(key, cell);
            series.cells(bytes, &mut self.unpacker.borrow_mut(), |position| position == 0, each)
        })
    }

    /// The bytes of blocks, each with the number of its first series, in their order.
    pub(crate) fn block_rows(
        &self,
        blocks: Blocks,
        mut each: impl FnMut(u32, &[u8]) -> Result<(), RowError>,
    ) -> Result<(), ReadError> {
        let has_sums = self.format >= FORMAT_OF_CHECKSUMS;
        let stated = if has_sums { "crc32" } else { "0" };
        let (place, key) = match blocks {
            Blocks::Chunk { minute, windows } => {
                ("chunk WHERE minute = ? AND windows = ?", [minute, windows])
            }
            Blocks::Rollup { windows, number } => {
                ("rollup WHERE windows = ? AND number = ?", [windows, number])
            }
        };
        let sql = format!("SELECT block, part, {stated}, cells FROM {place} ORDER BY block, part");
        self.rows(&sql, params![key[0], key[1]], |row| {
            let (block, part): (u32, u32) = (row.get(0)?, row.get(1)?);
            let cells = row.get_ref(3)?.as_blob().map_err(|_| "a blob is none")?;
            if has_sums && row.get::<_, u32>(2)? != block_crc32([key[0], key[1], block, part], cells) {
                return Err(RowError::Damage(blocks.damage()));
            }
            each(block.checked_mul(SERIES_PER_BLOCK).ok_or(UNKNOWN_NUMBER)?, cells)
        })?;
        Ok(())
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
        mut each: impl FnMut(SeriesKey, Cell<'_>),
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
            each(key, Cell::Whole(aggregate));
            Ok(())
        })?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_a_range() {
        let check = |range: Range<u32>| {
            let places = Places::from_range(range.clone());
            assert!(
                (0..100).all(|place| places.contains(place) == (place < MINUTE && range.contains(&place))),
                "{range:?}"
            );
            assert_eq!(places.is_empty(), range.is_empty());
        };
        [0..0, 0..1, 0..60, 7..55, 59..60, 30..1000].into_iter().for_each(check);
        let rest = Places::from_range(3..9).without(Places::from_range(4..8));
        assert_eq!((0..60).filter(|place| rest.contains(*place)).collect::<Vec<_>>(), [3, 8]);
    }
}
