//! Cells of many series at many positions, column by column: all counts, then all sums, and so on. What is alike stands
//! together, and what follows from something else is left out.
//!
//! ```text
//! block   version 1 | cells: varint | column × 17, in the order of `Column`
//! ```
//!
//! Cells are in order of their series, and those of a series in order of their positions. `docs/format/runfile.md` lists
//! which integers a cell puts into which column.

mod column;
mod number;
mod values;

#[cfg(test)]
mod tests;

use histo::{FixedSum, Values};
use model::{Aggregate, Brief, CounterTotal, Failures, GaugeTotal, Instant, MetricKind, RateTotal, Trend};

use super::blob::{Packer, Unpacker};
use super::cell::{COUNT_MAX, Flaw, read_byte, read_varint, write_varint};
use super::{MINUTE, SERIES_PER_BLOCK};
use crate::brief::{Cell, LentTrend, Want};
use column::{ColumnReader, ColumnWriter, unzigzag, zigzag};
use number::{read_near, read_sum, write_near, write_sum};
use values::Scratch;

const VERSION: u8 = 1;
/// Integers in a block before its last cell: a block of cells that are larger than any real one's is cut in parts.
const INTEGERS_WANTED: usize = 1 << 20;
/// Maximum number of integers in a block that is read: enough for one cell in which every float occurs.
const INTEGERS_MAX: usize = 16 << 20;
const NS_PER_MS: u64 = 1_000_000;

/// The subject of an integer. Each has a column of its own.
#[derive(Clone, Copy, Debug)]
enum Column {
    /// How many series after the cell's before it.
    Series,
    /// How many positions after the series' cell before it.
    Positions,
    /// Of counters and rates.
    Counts,
    /// Of rates: how many did not pass.
    Fails,
    /// Of gauges: the last value.
    Lasts,
    /// Of gauges: how far the smallest and the largest value are from the last.
    Spreads,
    /// Of gauges: when the last value was.
    Times,
    /// Which parts exist: values raw or not, failures or none.
    Shapes,
    /// Of values: how many raw ones, zeros, buckets.
    Lengths,
    /// Raw values.
    Raw,
    /// Of histograms: the smallest and the largest value.
    Ends,
    /// Of histograms: from bucket to bucket.
    Gaps,
    /// Of histograms: the counts.
    Buckets,
    /// Of sums: the place of the lowest bit.
    Grids,
    /// Sums.
    Sums,
    /// The remainders of sums beyond their rounded forms.
    Rests,
    /// Cells written in full: floats and sums of an unusual kind, and rare counts.
    Plain,
}

const COLUMNS: usize = Column::Plain as usize + 1;

/// The columns of a block while it is written.
#[derive(Debug, Default)]
struct Columns([ColumnWriter; COLUMNS]);

/// The columns of a block while it is read.
#[derive(Debug)]
struct ReadColumns<'a>([ColumnReader<'a>; COLUMNS]);

impl Columns {
    fn push(&mut self, column: Column, value: u64) {
        self.0[column as usize].push(value);
    }
}

impl ReadColumns<'_> {
    #[inline]
    fn next(&mut self, column: Column) -> Result<u64, Flaw> {
        self.0[column as usize].next()
    }

    /// Goes past integers of a column; gives how many of them are 0.
    fn skip(&mut self, column: Column, count: u64) -> Result<u64, Flaw> {
        self.0[column as usize].skip(count)
    }

    fn count(&mut self, column: Column) -> Result<u64, Flaw> {
        let count = self.next(column)?;
        if count > COUNT_MAX { Err("a count is impossibly large") } else { Ok(count) }
    }
}

/// Where the cell before was, and what gauges remember of it.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    cells: u64,
    series: u64,
    position: u64,
    last_ns: i64,
    at_ns: u64,
}

impl Place {
    /// Goes to a series and a position so many further; a position counts anew in each series.
    fn advance(&mut self, series: u64, position: u64) -> Result<(), Flaw> {
        let is_same = self.cells > 0 && series == 0;
        if !is_same {
            *self =
                Place { cells: self.cells, series: self.series.saturating_add(series), ..Place::default() };
        }
        let from = if is_same { self.position + 1 } else { 0 };
        self.position = from.saturating_add(position);
        self.cells += 1;
        if self.series >= SERIES_PER_BLOCK.into() || self.position >= MINUTE.into() {
            return Err("a cell's place is out of range");
        }
        Ok(())
    }
}

/// Makes blocks of cells.
#[derive(Debug, Default)]
pub(crate) struct BlockWriter {
    columns: Columns,
    place: Place,
    scratch: Scratch,
}

impl BlockWriter {
    /// Adds a cell. Series and positions ascend: both are far below [`SERIES_PER_BLOCK`] and [`MINUTE`].
    pub(crate) fn push(&mut self, series: u32, position: u32, aggregate: &Aggregate) {
        let (series, position) = (u64::from(series % SERIES_PER_BLOCK), u64::from(position));
        let is_same = self.place.cells > 0 && series == self.place.series;
        let step = series.saturating_sub(self.place.series);
        let from = if is_same { self.place.position + 1 } else { 0 };
        self.columns.push(Column::Series, step);
        self.columns.push(Column::Positions, position.saturating_sub(from));
        let placed = self.place.advance(step, position.saturating_sub(from));
        debug_assert!(placed.is_ok() && (self.place.series, self.place.position) == (series, position));
        self.write(aggregate);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.place.cells == 0
    }

    /// Whether what comes next belongs into another part.
    pub(crate) fn is_full(&self) -> bool {
        self.columns.0.iter().map(ColumnWriter::len).sum::<usize>() >= INTEGERS_WANTED
    }

    /// The block; nothing is left of it here. `None` if it is larger than any blob may be.
    pub(crate) fn take(&mut self, packer: &mut Packer) -> Option<Vec<u8>> {
        let mut out = vec![VERSION];
        write_varint(&mut out, std::mem::take(&mut self.place).cells);
        let mut whole = Some(());
        for column in &mut self.columns.0 {
            whole = whole.and(column.take(packer, &mut out));
        }
        whole.map(|()| out).filter(|block| block.len() <= super::BLOB_BYTES_MAX)
    }

    fn write(&mut self, aggregate: &Aggregate) {
        match aggregate {
            Aggregate::Counter(counter) => {
                self.columns.push(Column::Counts, counter.count);
                self.columns.push(Column::Plain, counter.sum.non_finite());
                write_sum(&mut self.columns, &counter.sum, as_ns(counter.count));
            }
            Aggregate::Gauge(gauge) => self.write_gauge(gauge),
            Aggregate::Rate(rate) => {
                self.columns.push(Column::Counts, rate.total);
                self.columns.push(Column::Fails, rate.total.saturating_sub(rate.passes));
            }
            Aggregate::Trend(trend) => self.write_trend(trend),
        }
    }

    fn write_gauge(&mut self, gauge: &GaugeTotal) {
        write_near(&mut self.columns, Column::Lasts, gauge.last, &mut self.place.last_ns);
        for value in [gauge.min, gauge.max] {
            let mut near_ns = self.place.last_ns;
            write_near(&mut self.columns, Column::Spreads, value, &mut near_ns);
        }
        let at_ns = gauge.last_at.as_ns();
        self.columns.push(Column::Times, zigzag(at_ns.wrapping_sub(self.place.at_ns) as i64));
        self.place.at_ns = at_ns;
    }

    fn write_trend(&mut self, trend: &Trend) {
        self.columns.push(Column::Shapes, trend.failures.is_some().into());
        self.scratch.write(&mut self.columns, &trend.values);
        if let Some(failures) = &trend.failures {
            self.scratch.write(&mut self.columns, &failures.timed_out);
            self.scratch.write(&mut self.columns, &failures.cut);
            self.columns.push(Column::Plain, failures.dropped);
            self.columns.push(Column::Plain, failures.failed);
        }
    }
}

/// Gives each cell to `each`, with its series' number within the block.
pub(crate) fn decode<Error: From<Flaw>>(
    bytes: &[u8],
    unpacker: &mut Unpacker,
    kind_of: impl Fn(u32) -> Result<MetricKind, Error>,
    each: impl FnMut(u32, u32, Cell<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    walk(bytes, unpacker, |series, _| Ok((kind_of(series)?, Want::Whole)), each)
}

/// Gives of each cell what is wanted to `each`, with its series' number within the block. `want_of` is asked first: of which
/// kind the cell of a series at a position is, and how much of it is wanted. What is not wanted is not looked into.
pub(crate) fn walk<Error: From<Flaw>>(
    mut bytes: &[u8],
    unpacker: &mut Unpacker,
    want_of: impl Fn(u32, u32) -> Result<(MetricKind, Want), Error>,
    mut each: impl FnMut(u32, u32, Cell<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    if read_byte(&mut bytes)? != VERSION {
        return Err(Error::from("a block is of an unknown kind"));
    }
    let cells = read_varint(&mut bytes)?;
    let mut left = INTEGERS_MAX;
    let mut columns = Vec::with_capacity(COLUMNS);
    for _ in 0..COLUMNS {
        columns.push(ColumnReader::read(&mut bytes, unpacker, &mut left)?);
    }
    let columns = columns.try_into().map_err(|_| "a block has too few columns")?;
    let mut block = Block {
        columns: ReadColumns(columns),
        place: Place::default(),
        scratch: Scratch::default(),
        rare: Scratch::default(),
    };
    for _ in 0..cells {
        let (series, position) = block.next_place()?;
        match want_of(series, position)? {
            (MetricKind::Trend, Want::Nothing) => block.skip_trend()?,
            (MetricKind::Trend, Want::Brief) => each(series, position, Cell::Brief(block.next_brief()?))?,
            (MetricKind::Trend, Want::Whole) => each(series, position, Cell::Trend(block.next_trend()?))?,
            (kind, want) => {
                let aggregate = block.next_cell(kind)?;
                if want != Want::Nothing {
                    each(series, position, Cell::Whole(aggregate))?;
                }
            }
        }
    }
    block.columns.0.iter().try_for_each(ColumnReader::end)?;
    if bytes.is_empty() { Ok(()) } else { Err(Error::from("bytes are left over after a block")) }
}

/// A block while it is read.
struct Block<'a> {
    columns: ReadColumns<'a>,
    place: Place,
    scratch: Scratch,
    /// For values of failures, while others are borrowed.
    rare: Scratch,
}

impl Block<'_> {
    fn next_place(&mut self) -> Result<(u32, u32), Flaw> {
        let (step, position) = (self.columns.next(Column::Series)?, self.columns.next(Column::Positions)?);
        self.place.advance(step, position)?;
        // Both are checked to be small.
        Ok((self.place.series as u32, self.place.position as u32))
    }

    fn next_cell(&mut self, kind: MetricKind) -> Result<Aggregate, Flaw> {
        let columns = &mut self.columns;
        Ok(match kind {
            MetricKind::Counter => {
                let count = columns.count(Column::Counts)?;
                let non_finite = columns.count(Column::Plain)?;
                let sum = FixedSum::from_words(read_sum(columns, as_ns(count))?, non_finite);
                Aggregate::Counter(CounterTotal { sum, count })
            }
            MetricKind::Gauge => Aggregate::Gauge(self.next_gauge()?),
            MetricKind::Rate => {
                let (total, fails) = (columns.count(Column::Counts)?, columns.next(Column::Fails)?);
                let passes = total.checked_sub(fails).ok_or("a rate fails more than there is")?;
                Aggregate::Rate(RateTotal { passes, total })
            }
            MetricKind::Trend => Aggregate::Trend(self.next_trend()?.into_trend()),
        })
    }

    fn next_gauge(&mut self) -> Result<GaugeTotal, Flaw> {
        let last = read_near(&mut self.columns, Column::Lasts, &mut self.place.last_ns)?;
        let [mut below_ns, mut above_ns] = [self.place.last_ns; 2];
        let min = read_near(&mut self.columns, Column::Spreads, &mut below_ns)?;
        let max = read_near(&mut self.columns, Column::Spreads, &mut above_ns)?;
        if [last, min, max].iter().any(|value| value.is_nan()) {
            return Err("a gauge is not a number");
        }
        let step = unzigzag(self.columns.next(Column::Times)?);
        self.place.at_ns = self.place.at_ns.wrapping_add_signed(step);
        Ok(GaugeTotal { last, last_at: Instant::from_ns(self.place.at_ns), min, max })
    }

    fn next_trend(&mut self) -> Result<LentTrend<'_>, Flaw> {
        let has_failures = self.has_failures()?;
        let columns = &mut self.columns;
        let values = self.scratch.read(columns)?;
        if !has_failures {
            return Ok(LentTrend { values, failures: None });
        }
        let failures = Failures {
            timed_out: Values::from(&self.rare.read(columns)?),
            cut: Values::from(&self.rare.read(columns)?),
            dropped: columns.count(Column::Plain)?,
            failed: columns.count(Column::Plain)?,
        };
        Ok(LentTrend { values, failures: Some(Box::new(failures)) })
    }

    fn next_brief(&mut self) -> Result<Brief<'_>, Flaw> {
        let has_failures = self.has_failures()?;
        let columns = &mut self.columns;
        let mut brief = self.scratch.read_brief(columns)?;
        if has_failures {
            let (timed_out, cut) = (values::read_count(columns)?, values::read_count(columns)?);
            let (dropped, failed) = (columns.count(Column::Plain)?, columns.count(Column::Plain)?);
            // None is more than 2^44.
            brief.failures = timed_out + cut + dropped + failed;
        }
        Ok(brief)
    }

    fn skip_trend(&mut self) -> Result<(), Flaw> {
        let has_failures = self.has_failures()?;
        let columns = &mut self.columns;
        values::skip(columns)?;
        if has_failures {
            values::skip(columns)?;
            values::skip(columns)?;
            columns.skip(Column::Plain, 2)?;
        }
        Ok(())
    }

    fn has_failures(&mut self) -> Result<bool, Flaw> {
        match self.columns.next(Column::Shapes)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err("a trend has an unknown part"),
        }
    }
}

/// A counter's guess at its own sum: many count by ones.
fn as_ns(count: u64) -> i64 {
    i64::try_from(count.saturating_mul(NS_PER_MS)).unwrap_or(i64::MAX)
}
