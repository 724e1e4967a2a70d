//! The values of a trend in columns.
//!
//! Of a histogram, the outermost buckets follow from its smallest and largest value, the count from the buckets', and the
//! sum is near what the buckets' middles add up to.

use histo::{BorrowedValues, Buckets, DecodeError, EXACT_MAX, FixedSum, INDEX_MIN, Values, bounds, index_of};
use model::Brief;

use super::number::{read_ascending, read_sum, skip_floats, skip_sum, write_ascending, write_sum};
use super::{Column, Columns, ReadColumns};
use crate::format::cell::{COUNT_MAX, Flaw};

const RAW: u64 = 0;
const HISTOGRAM: u64 = 1;
/// Histograms of more buckets are large anyway, and their sums are not guessed.
const GUESS_BUCKETS_MAX: usize = 64;
const NS_PER_MS: f64 = 1e6;

/// Index and count.
type Bucket = (i32, u64);

/// Buffers that are reused for every cell.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    raw: Vec<f64>,
    positive: Vec<Bucket>,
    negative: Vec<Bucket>,
}

/// The fields of a histogram beside the buckets of its sides.
struct Around {
    zeros: u64,
    /// The smallest and the largest value.
    ends: (f64, f64),
}

impl Scratch {
    pub(super) fn write(&mut self, columns: &mut Columns, values: &Values) {
        let Some(raw) = values.raw() else { return self.write_histogram(columns, values) };
        columns.push(Column::Shapes, values.non_finite() << 1 | RAW);
        columns.push(Column::Lengths, raw.len() as u64);
        self.raw.clear();
        self.raw.extend_from_slice(raw);
        self.raw.sort_unstable_by(f64::total_cmp);
        let mut before_ns = 0;
        for value in &self.raw {
            write_ascending(columns, Column::Raw, *value, &mut before_ns);
        }
    }

    fn write_histogram(&mut self, columns: &mut Columns, values: &Values) {
        columns.push(Column::Shapes, values.non_finite() << 1 | HISTOGRAM);
        let histogram = values.to_histogram();
        refill(&mut self.positive, histogram.positive());
        refill(&mut self.negative, histogram.negative());
        columns.push(Column::Lengths, histogram.zero());
        columns.push(Column::Lengths, self.positive.len() as u64);
        columns.push(Column::Lengths, self.negative.len() as u64);
        let (Some(min), Some(max)) = (histogram.min(), histogram.max()) else { return };
        let mut before_ns = 0;
        write_ascending(columns, Column::Ends, min, &mut before_ns);
        write_ascending(columns, Column::Ends, max, &mut before_ns);
        let only_positive = histogram.zero() == 0 && self.negative.is_empty();
        write_side(columns, &self.positive, only_positive);
        write_side(columns, &self.negative, false);
        write_sum(columns, &values.sum(), guess_ns(&self.positive));
    }

    /// Reads values, borrowed until the next are read.
    pub(super) fn read(&mut self, columns: &mut ReadColumns<'_>) -> Result<BorrowedValues<'_>, Flaw> {
        let shape = columns.next(Column::Shapes)?;
        let non_finite = shape >> 1;
        let values = match shape & 1 == RAW {
            true => self.read_raw(columns, non_finite)?,
            false => self.read_histogram(columns, non_finite)?,
        };
        if values.count() > COUNT_MAX { Err(TOO_MANY) } else { Ok(values) }
    }

    /// Reads the parts of values that a [`Brief`] needs, without the failures.
    pub(super) fn read_brief(&mut self, columns: &mut ReadColumns<'_>) -> Result<Brief<'_>, Flaw> {
        let is_raw = columns.next(Column::Shapes)? & 1 == RAW;
        let (others, sum) = match is_raw {
            true => self.read_raw_brief(columns)?,
            false => self.read_histogram_brief(columns)?,
        };
        let brief = Brief { buckets: &self.positive, others, sum, failures: 0 };
        if brief.count() > COUNT_MAX { Err(TOO_MANY) } else { Ok(brief) }
    }

    fn read_raw(
        &mut self,
        columns: &mut ReadColumns<'_>,
        non_finite: u64,
    ) -> Result<BorrowedValues<'_>, Flaw> {
        let mut before_ns = 0;
        self.raw.clear();
        for _ in 0..raw_count(columns)? {
            self.raw.push(read_ascending(columns, Column::Raw, &mut before_ns)?);
        }
        BorrowedValues::raw(&self.raw, non_finite).map_err(unreadable)
    }

    fn read_raw_brief(&mut self, columns: &mut ReadColumns<'_>) -> Result<(u64, f64), Flaw> {
        let (mut others, mut before_ns) = (0, 0);
        let mut sum = FixedSum::default();
        self.positive.clear();
        for _ in 0..raw_count(columns)? {
            let value = read_ascending(columns, Column::Raw, &mut before_ns)?;
            if !value.is_finite() {
                return Err("values are not readable");
            }
            sum.add(value);
            match value > 0.0 {
                true => self.positive.push((index_of(value), 1)),
                false => others += 1,
            }
        }
        // They ascend already, unless another program wrote them.
        self.positive.sort_unstable_by_key(|bucket| bucket.0);
        self.positive.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            kept.1 += if is_same { next.1 } else { 0 };
            is_same
        });
        Ok((others, sum.value()))
    }

    fn read_histogram(
        &mut self,
        columns: &mut ReadColumns<'_>,
        non_finite: u64,
    ) -> Result<BorrowedValues<'_>, Flaw> {
        let Some(Around { zeros, ends }) = self.read_sides(columns)? else {
            return BorrowedValues::inexact(non_finite).map_err(unreadable);
        };
        let sum = read_sum(columns, guess_ns(&self.positive))?;
        let buckets = Buckets { zero: zeros, ends, positive: &self.positive, negative: &self.negative };
        BorrowedValues::buckets(buckets, FixedSum::from_words(sum, 0), non_finite).map_err(unreadable)
    }

    fn read_histogram_brief(&mut self, columns: &mut ReadColumns<'_>) -> Result<(u64, f64), Flaw> {
        let Some(Around { zeros, .. }) = self.read_sides(columns)? else { return Ok((0, 0.0)) };
        let sum = read_sum(columns, guess_ns(&self.positive))?;
        let negative = self.negative.iter().fold(0u64, |sum, bucket| sum.saturating_add(bucket.1));
        Ok((zeros.saturating_add(negative), FixedSum::from_words(sum, 0).value()))
    }

    /// Reads both sides' buckets and gives the rest. `None` if there are no values.
    fn read_sides(&mut self, columns: &mut ReadColumns<'_>) -> Result<Option<Around>, Flaw> {
        let lengths = Lengths::read(columns)?;
        self.positive.clear();
        if lengths.is_empty() {
            return Ok(None);
        }
        let mut before_ns = 0;
        let min = read_ascending(columns, Column::Ends, &mut before_ns)?;
        let max = read_ascending(columns, Column::Ends, &mut before_ns)?;
        let lowest = lengths.is_lowest_known().then_some(min);
        read_side(columns, &mut self.positive, lengths.positive, max, lowest)?;
        read_side(columns, &mut self.negative, lengths.negative, -min, None)?;
        Ok(Some(Around { zeros: lengths.zeros, ends: (min, max) }))
    }
}

/// How much a histogram has.
#[derive(Clone, Copy, Debug)]
struct Lengths {
    zeros: u64,
    /// Buckets.
    positive: u64,
    negative: u64,
}

impl Lengths {
    fn read(columns: &mut ReadColumns<'_>) -> Result<Lengths, Flaw> {
        let zeros = columns.count(Column::Lengths)?;
        let (positive, negative) = (columns.next(Column::Lengths)?, columns.next(Column::Lengths)?);
        Ok(Lengths { zeros, positive, negative })
    }

    fn is_empty(self) -> bool {
        self.zeros == 0 && self.positive == 0 && self.negative == 0
    }

    /// Whether the lowest positive bucket is that of the smallest value.
    fn is_lowest_known(self) -> bool {
        self.zeros == 0 && self.negative == 0
    }

    /// The number of gaps.
    fn gaps(self) -> u64 {
        let positive = self.positive.saturating_sub(1 + u64::from(self.is_lowest_known()));
        positive + self.negative.saturating_sub(1)
    }
}

/// Reads of values how many they are.
pub(super) fn read_count(columns: &mut ReadColumns<'_>) -> Result<u64, Flaw> {
    if columns.next(Column::Shapes)? & 1 == RAW {
        let count = raw_count(columns)?;
        skip_floats(columns, Column::Raw, count)?;
        return Ok(count);
    }
    let lengths = Lengths::read(columns)?;
    let mut count = lengths.zeros;
    if !lengths.is_empty() {
        skip_floats(columns, Column::Ends, 2)?;
        columns.skip(Column::Gaps, lengths.gaps())?;
        for _ in 0..lengths.positive.saturating_add(lengths.negative) {
            count = count.saturating_add(columns.count(Column::Buckets)?).saturating_add(1);
        }
        skip_sum(columns)?;
    }
    if count > COUNT_MAX { Err(TOO_MANY) } else { Ok(count) }
}

/// Goes past values.
pub(super) fn skip(columns: &mut ReadColumns<'_>) -> Result<(), Flaw> {
    if columns.next(Column::Shapes)? & 1 == RAW {
        let count = raw_count(columns)?;
        return skip_floats(columns, Column::Raw, count);
    }
    let lengths = Lengths::read(columns)?;
    if lengths.is_empty() {
        return Ok(());
    }
    skip_floats(columns, Column::Ends, 2)?;
    columns.skip(Column::Gaps, lengths.gaps())?;
    columns.skip(Column::Buckets, lengths.positive.saturating_add(lengths.negative))?;
    skip_sum(columns)
}

fn raw_count(columns: &mut ReadColumns<'_>) -> Result<u64, Flaw> {
    let count = columns.next(Column::Lengths)?;
    if count > EXACT_MAX as u64 { Err("more raw values than are ever kept") } else { Ok(count) }
}

const TOO_MANY: Flaw = "a count is impossibly large";

fn unreadable(_: DecodeError) -> Flaw {
    "values are not readable"
}

fn refill(side: &mut Vec<Bucket>, buckets: impl Iterator<Item = Bucket>) {
    side.clear();
    side.extend(buckets);
}

/// Writes one side's buckets, without the outermost one, which the largest magnitude is in; and without the innermost one if
/// the smallest value says it.
fn write_side(columns: &mut Columns, side: &[Bucket], is_lowest_known: bool) {
    let gaps = side.windows(2).rev().map(|pair| i64::from(pair[1].0) - i64::from(pair[0].0) - 1);
    let known = side.len().saturating_sub(1 + usize::from(is_lowest_known));
    gaps.take(known).for_each(|gap| columns.push(Column::Gaps, gap as u64));
    side.iter().rev().for_each(|bucket| columns.push(Column::Buckets, bucket.1 - 1));
}

fn read_side(
    columns: &mut ReadColumns<'_>,
    side: &mut Vec<Bucket>,
    buckets: u64,
    largest: f64,
    lowest: Option<f64>,
) -> Result<(), Flaw> {
    side.clear();
    if buckets == 0 {
        return Ok(());
    }
    let mut index = index_at(largest)?;
    for number in 0..buckets {
        if number > 0 {
            let next = match lowest.filter(|_| number == buckets - 1) {
                Some(lowest) => index_at(lowest)?,
                None => {
                    let gap = i32::try_from(columns.next(Column::Gaps)?).unwrap_or(i32::MAX);
                    index.saturating_sub(gap).saturating_sub(1)
                }
            };
            if next >= index || next < INDEX_MIN {
                return Err("a bucket is out of range or out of order");
            }
            index = next;
        }
        let count = columns.count(Column::Buckets)? + 1;
        side.push((index, count));
    }
    side.reverse();
    Ok(())
}

fn index_at(magnitude: f64) -> Result<i32, Flaw> {
    if magnitude > 0.0 && magnitude.is_finite() {
        return Ok(index_of(magnitude));
    }
    Err("the smallest or largest value is in no bucket")
}

/// The sum of the buckets' middles, in nanoseconds if they are milliseconds; 0 where it would not be worth it. The same
/// on every machine: nothing but additions and multiplications, in one order.
fn guess_ns(positive: &[Bucket]) -> i64 {
    if positive.len() > GUESS_BUCKETS_MAX {
        return 0;
    }
    let middle = |bucket: &Bucket| {
        let (lower, upper) = bounds(bucket.0);
        (lower + upper) / 2.0 * bucket.1 as f64
    };
    let sum: f64 = positive.iter().map(middle).sum();
    (sum * NS_PER_MS) as i64
}
