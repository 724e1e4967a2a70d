//! The values of a trend in columns.
//!
//! Of a histogram, the outermost buckets follow from its smallest and largest value, the count from the buckets', and the
//! sum is near what the buckets' middles add up to.

use histo::{DecodeError, EXACT_MAX, FixedSum, Histogram, INDEX_MIN, Values, bounds, index_of};

use super::number::{read_ascending, read_sum, write_ascending, write_sum};
use super::{Column, Columns, ReadColumns};
use crate::format::cell::{COUNT_MAX, Flaw};

const RAW: u64 = 0;
const HISTOGRAM: u64 = 1;
/// Histograms of more buckets are large anyway, and their sums are not guessed.
const GUESS_BUCKETS_MAX: usize = 64;
const NS_PER_MS: f64 = 1e6;

/// Index and count.
type Bucket = (i32, u64);

/// Room that is used again for every cell.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    raw: Vec<f64>,
    positive: Vec<Bucket>,
    negative: Vec<Bucket>,
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

    /// Reads values; nothing but empty ones if they are not wanted.
    pub(super) fn read(&mut self, columns: &mut ReadColumns<'_>, is_wanted: bool) -> Result<Values, Flaw> {
        let shape = columns.next(Column::Shapes)?;
        let non_finite = shape >> 1;
        let values = match shape & 1 == RAW {
            true => self.read_raw(columns, non_finite, is_wanted)?,
            false => self.read_histogram(columns, non_finite, is_wanted)?,
        };
        if values.count() > COUNT_MAX { Err("a count is impossibly large") } else { Ok(values) }
    }

    fn read_raw(
        &mut self,
        columns: &mut ReadColumns<'_>,
        non_finite: u64,
        is_wanted: bool,
    ) -> Result<Values, Flaw> {
        let count = columns.next(Column::Lengths)?;
        if count > EXACT_MAX as u64 {
            return Err("more raw values than are ever kept");
        }
        self.raw.clear();
        let mut before_ns = 0;
        for _ in 0..count {
            self.raw.push(read_ascending(columns, Column::Raw, &mut before_ns)?);
        }
        if !is_wanted {
            return Ok(Values::default());
        }
        Values::from_raw(self.raw.clone(), non_finite).map_err(unreadable)
    }

    fn read_histogram(
        &mut self,
        columns: &mut ReadColumns<'_>,
        non_finite: u64,
        is_wanted: bool,
    ) -> Result<Values, Flaw> {
        let zeros = columns.count(Column::Lengths)?;
        let lengths = [columns.next(Column::Lengths)?, columns.next(Column::Lengths)?];
        if zeros == 0 && lengths == [0, 0] {
            let nothing = (Histogram::default(), FixedSum::default());
            return Values::from_histogram(nothing.0, nothing.1, non_finite).map_err(unreadable);
        }
        let mut before_ns = 0;
        let min = read_ascending(columns, Column::Ends, &mut before_ns)?;
        let max = read_ascending(columns, Column::Ends, &mut before_ns)?;
        let only_positive = zeros == 0 && lengths[1] == 0;
        read_side(columns, &mut self.positive, lengths[0], max, only_positive.then_some(min))?;
        read_side(columns, &mut self.negative, lengths[1], -min, None)?;
        let sum = read_sum(columns, guess_ns(&self.positive))?;
        if !is_wanted {
            return Ok(Values::default());
        }
        Histogram::from_buckets(zeros, (min, max), &self.positive, &self.negative)
            .and_then(|histogram| Values::from_histogram(histogram, FixedSum::from_words(sum, 0), non_finite))
            .map_err(unreadable)
    }
}

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
    let told = side.len().saturating_sub(1 + usize::from(is_lowest_known));
    gaps.take(told).for_each(|gap| columns.push(Column::Gaps, gap as u64));
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

/// What the buckets' middles add up to, in nanoseconds if they are milliseconds; 0 where it would not be worth it. The same
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
