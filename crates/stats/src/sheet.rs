//! A run's per-second histograms as one compact table, and what of it says how certain a quantile or a mean is.
//!
//! A quantile's uncertainty does not need histograms to be merged again and again: to first order the quantile moves with
//! the share of values above it, and that share is a plain series with one number per second (Bahadur, 1966; for
//! dependent data Sen, 1968). So one pass over the table yields a series per quantile, whose long-run variance is the
//! quantile's, in units of share; the merged histogram turns shares back into values (Woodruff, "Confidence Intervals for
//! Medians and Other Position Measures", 1952).

use std::ops::Range;
use std::sync::Arc;

use histo::Histogram;

use crate::ratio::{Estimate, Ranks};

/// The bucket of zeros and of negative values, below every other.
const ZERO_BUCKET: i32 = histo::INDEX_MIN - 1;

/// One series of a run: for each second the counts of values by bucket, their sum, and how many values are only known to
/// be larger than all of them.
///
/// An hour of 500 series is 1.8 million rows, and memory that is touched for the first time costs more than what is computed of
/// it: a bucket takes four bytes here, and capacity is reserved for the seconds that are still to come.
#[derive(Clone, Debug, Default)]
pub struct Sheet {
    seconds: Vec<Second>,
    words: Vec<u32>,
    /// How many seconds there will be, where it is known.
    expected: usize,
}

#[derive(Clone, Copy, Debug)]
struct Second {
    /// The end of its words.
    end: usize,
    sum: f64,
    measured: u32,
    censored: u32,
}

/// A bucket's word is the distance of its index from [`ZERO_BUCKET`], and below it, in so many bits, its count; a zero there says
/// that the count is longer, and is the word before.
const COUNT_BITS: u32 = 11;

const COUNT_MASK: u32 = (1 << COUNT_BITS) - 1;

/// Maximum capacity as a multiple of the present words: the estimate from the first seconds can be too high.
const GROWTH_MAX: usize = 64;

impl Sheet {
    /// A table without seconds.
    pub fn new() -> Sheet {
        Sheet::default()
    }

    /// Says how many seconds there will be. More or fewer may come.
    pub fn expect_seconds(&mut self, count: usize) {
        self.expected = count;
        self.seconds.reserve_exact(count.saturating_sub(self.seconds.len()).min(EXPECTED_MAX));
    }

    /// Adds a second: its measured values, their sum, and the number of those that rank above every measured one (timeouts
    /// and failures). A second without requests must be added too, or the seconds after it move.
    pub fn push(&mut self, histogram: &Histogram, sum: f64, censored: u64) {
        let positive: u64 = histogram.positive().map(|(_, count)| count).sum();
        let others = histogram.count() - positive;
        self.push_counts(histogram.positive(), others, sum, censored);
    }

    /// The same by counts: positive values by the index of their bucket, ascending, and the others together. What a count has
    /// beyond 2^32 - 1 is cut off.
    pub fn push_counts(
        &mut self,
        positive: impl Iterator<Item = (i32, u64)>,
        others: u64,
        sum: f64,
        censored: u64,
    ) {
        let zeros = (others > 0).then_some((ZERO_BUCKET, others)).into_iter();
        let mut measured = 0u32;
        self.make_room();
        for (index, count) in zeros.chain(positive) {
            let count = shortened(count);
            measured = measured.saturating_add(count);
            self.push_bucket(index, count);
        }
        let sum = if sum.is_finite() { sum } else { 0.0 };
        self.seconds.push(Second { end: self.words.len(), sum, measured, censored: shortened(censored) });
    }

    fn push_bucket(&mut self, index: i32, count: u32) {
        let distance = index.clamp(ZERO_BUCKET, histo::INDEX_MAX) - ZERO_BUCKET;
        let word = (distance as u32) << COUNT_BITS;
        match count {
            0 => {}
            1..=COUNT_MASK => self.words.push(word | count),
            _ => self.words.extend([count, word]),
        }
    }

    /// Reserves memory for the seconds to come, as many words in each as there were until now: a table that doubles again and again
    /// touches twice the memory.
    fn make_room(&mut self) {
        let (used, seconds) = (self.words.len(), self.seconds.len());
        if seconds == 0 || seconds >= self.expected {
            return;
        }
        let spare = self.words.capacity() - used;
        if spare > 2 * used.div_ceil(seconds) {
            return;
        }
        let promised = (used as f64 / seconds as f64 * self.expected as f64 * ROOM) as usize;
        self.words.reserve_exact(promised.min(used.saturating_mul(GROWTH_MAX)).saturating_sub(used));
    }

    /// How many seconds.
    pub fn len(&self) -> usize {
        self.seconds.len()
    }

    /// Whether it has no second.
    pub fn is_empty(&self) -> bool {
        self.seconds.is_empty()
    }

    /// The mean of each second's measured values; a second without any takes the one before, so that time stays even.
    pub fn means(&self) -> Vec<f64> {
        let first = self.seconds.iter().find(|second| second.measured > 0);
        let mut last = first.map_or(0.0, |second| second.sum / f64::from(second.measured));
        let mean = |second: &Second| {
            if second.measured > 0 {
                last = second.sum / f64::from(second.measured);
            }
            last
        };
        self.seconds.iter().map(mean).collect()
    }

    /// The measured and the censored of each second.
    pub fn counts(&self) -> impl Iterator<Item = (u64, u64)> {
        self.seconds.iter().map(|second| (u64::from(second.measured), u64::from(second.censored)))
    }

    /// Each second's number of values up to a limit, by whole buckets.
    pub fn at_most(&self, limit: f64) -> Vec<u64> {
        let last = if limit > 0.0 { histo::index_of(limit.min(f64::MAX)) } else { ZERO_BUCKET };
        let within = |at: usize| {
            let above = self.row(at).take_while(|(index, _)| *index > last);
            let above: u64 = above.map(|(_, count)| u64::from(count)).sum();
            u64::from(self.seconds[at].measured).saturating_sub(above)
        };
        (0..self.seconds.len()).map(within).collect()
    }

    /// A second's buckets with their counts, the largest values first.
    fn row(&self, at: usize) -> impl Iterator<Item = (i32, u32)> {
        let start = at.checked_sub(1).map_or(0, |before| self.seconds[before].end);
        let mut rest = &self.words[start..self.seconds[at].end];
        std::iter::from_fn(move || {
            let mut word;
            (word, rest) = rest.split_last().map(|(last, rest)| (*last, rest))?;
            let index = (word >> COUNT_BITS) as i32 + ZERO_BUCKET;
            if word & COUNT_MASK == 0 {
                (word, rest) = rest.split_last().map(|(last, rest)| (*last, rest))?;
                return Some((index, word));
            }
            Some((index, word & COUNT_MASK))
        })
    }
}

/// Reserved capacity relative to the estimate: mostly one table is enough.
const ROOM: f64 = 1.1;

/// Seconds that memory is reserved for at once: a day.
const EXPECTED_MAX: usize = 86_400;

fn shortened(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The seconds of one or several runs that are judged together.
#[derive(Debug)]
pub struct SheetPart<'a> {
    runs: Vec<(&'a Sheet, Range<usize>)>,
    ranks: Arc<Ranks>,
    population: f64,
}

/// A quantile with its uncertainty.
#[derive(Clone, Debug)]
pub struct Tail {
    /// Which.
    pub quantile: f64,
    /// Its value and how certain that is; `None` if the quantile lies among the censored or has no value above 0.
    pub estimate: Option<Estimate>,
}

impl<'a> SheetPart<'a> {
    /// The seconds of a range of each run; ranges are cut to what there is.
    pub fn new(runs: &[(&'a Sheet, Range<usize>)]) -> SheetPart<'a> {
        let cut = |(sheet, range): &(&'a Sheet, Range<usize>)| {
            let end = range.end.min(sheet.len());
            (*sheet, range.start.min(end)..end)
        };
        let runs: Vec<(&Sheet, Range<usize>)> = runs.iter().map(cut).collect();
        let ranks = merged(&runs);
        let censored: u64 = seconds(&runs).map(|second| u64::from(second.censored)).sum();
        let population = ranks.measured() + censored as f64;
        SheetPart { runs, ranks: Arc::new(ranks), population }
    }

    /// How many values, the censored among them.
    pub fn population(&self) -> u64 {
        self.population as u64
    }

    /// How many values were measured.
    pub fn measured(&self) -> u64 {
        self.ranks.measured() as u64
    }

    /// The mean of the measured values; `None` without one above 0.
    pub fn mean(&self) -> Option<Estimate> {
        let measured = self.ranks.measured();
        let mean = seconds(&self.runs).map(|second| second.sum).sum::<f64>() / measured;
        if mean.is_nan() || mean <= 0.0 {
            return None;
        }
        let residuals = self.residuals(|second| second.sum - mean * f64::from(second.measured));
        Estimate::of_mean(mean, &residuals, measured)
    }

    /// The quantiles of the population, in the order given.
    pub fn quantiles(&self, quantiles: &[f64]) -> Vec<Tail> {
        let places: Vec<Option<Place>> = quantiles.iter().map(|q| self.place(*q)).collect();
        let residuals = self.tail_residuals(&places);
        let tails = quantiles.iter().zip(&places).zip(residuals);
        tails
            .map(|((quantile, place), residuals)| {
                let estimate = place.and_then(|place| {
                    let (ranks, population) = (Arc::clone(&self.ranks), self.population);
                    Estimate::of_quantile(place.value, *quantile, &residuals, ranks, population)
                });
                Tail { quantile: *quantile, estimate }
            })
            .collect()
    }

    /// The quantile that a value is, by whole buckets, with the error of the share below it; `None` without a value.
    pub(crate) fn at_value(&self, value: f64) -> Option<Estimate> {
        let bucket = histo::index_of(value);
        let below = self.ranks.up_to(bucket);
        if self.population < 1.0 {
            return None;
        }
        let place = Place { bucket, fraction: 1.0, below, value };
        let residuals = self.tail_residuals(&[Some(place)]).pop()?;
        Estimate::of_quantile(
            value,
            below / self.population,
            &residuals,
            Arc::clone(&self.ranks),
            self.population,
        )
    }

    /// The share of the population above a value, by whole buckets, in each block of the first seconds of each run. A rest that does
    /// not fill a block is left out; a block without requests has nothing above.
    pub(crate) fn shares_above(
        &self,
        value: f64,
        seconds: usize,
        block_s: usize,
    ) -> impl Iterator<Item = f64> {
        let bucket = histo::index_of(value);
        let blocks = self.runs.iter().flat_map(move |(sheet, range)| {
            let blocks = range.len().min(seconds) / block_s;
            let start = range.start;
            (0..blocks).map(move |block| (*sheet, start + block * block_s))
        });
        blocks.map(move |(sheet, start)| {
            let (mut above, mut all) = (0.0, 0.0);
            for at in start..start + block_s {
                let second = &sheet.seconds[at];
                let measured = sheet.row(at).take_while(|(index, _)| *index > bucket);
                let measured: f64 = measured.map(|(_, count)| f64::from(count)).sum();
                above += measured + f64::from(second.censored);
                all += f64::from(second.measured) + f64::from(second.censored);
            }
            if all > 0.0 { above / all } else { 0.0 }
        })
    }

    /// The smallest and the largest measured value above 0, within a bucket's width.
    pub(crate) fn range(&self) -> (f64, f64) {
        self.ranks.range()
    }

    fn residuals(&self, residual: impl Fn(&Second) -> f64) -> Vec<Vec<f64>> {
        let of_run = |(sheet, range): &(&Sheet, Range<usize>)| {
            sheet.seconds[range.clone()].iter().map(&residual).collect()
        };
        self.runs.iter().map(of_run).collect()
    }

    fn place(&self, quantile: f64) -> Option<Place> {
        if !(0.0..=1.0).contains(&quantile) {
            return None;
        }
        // The rank of k6's percentiles, by which every surface goes.
        let rank = quantile * (self.population - 1.0).max(0.0);
        self.ranks.place(rank + 0.5).filter(|place| place.value > 0.0)
    }

    /// For each quantile and run, each second's number of values above the quantile, less the number that its share of the
    /// population leads to expect. Over all seconds they add up to nothing.
    fn tail_residuals(&self, places: &[Option<Place>]) -> Vec<Vec<Vec<f64>>> {
        let seconds = self.runs.iter().map(|(_, range)| range.len());
        let empty: Vec<Vec<f64>> = seconds.map(Vec::with_capacity).collect();
        let mut residuals = vec![empty; places.len()];
        // From the largest values down, each row is read once, as far as the lowest place.
        let mut downwards: Vec<(usize, Place)> =
            places.iter().enumerate().filter_map(|(at, place)| Some((at, (*place)?))).collect();
        downwards.sort_by_key(|(_, place)| std::cmp::Reverse(place.bucket));
        for (run, (sheet, range)) in self.runs.iter().enumerate() {
            for at in range.clone() {
                let second = &sheet.seconds[at];
                let all = f64::from(second.measured) + f64::from(second.censored);
                let mut row = sheet.row(at).peekable();
                let mut above = f64::from(second.censored);
                for (of, place) in &downwards {
                    while let Some((_, count)) = row.next_if(|(index, _)| *index > place.bucket) {
                        above += f64::from(count);
                    }
                    let here = row.peek().filter(|(index, _)| *index == place.bucket);
                    let part = here.map_or(0.0, |(_, count)| (1.0 - place.fraction) * f64::from(*count));
                    let share_above = 1.0 - place.below / self.population;
                    residuals[*of][run].push(above + part - share_above * all);
                }
            }
        }
        residuals
    }
}

/// Where a quantile lies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) bucket: i32,
    /// How far inside the bucket.
    pub(crate) fraction: f64,
    /// How many values are below.
    pub(crate) below: f64,
    pub(crate) value: f64,
}

fn seconds<'a>(runs: &'a [(&'a Sheet, Range<usize>)]) -> impl Iterator<Item = &'a Second> {
    runs.iter().flat_map(|(sheet, range)| &sheet.seconds[range.clone()])
}

/// The counts of all seconds together, in order of value.
fn merged(runs: &[(&Sheet, Range<usize>)]) -> Ranks {
    let rows = || runs.iter().flat_map(|(sheet, range)| range.clone().flat_map(|at| sheet.row(at)));
    let positive = || rows().map(|(index, _)| index).filter(|index| *index != ZERO_BUCKET);
    let (first, last) = (positive().min().unwrap_or(0), positive().max().unwrap_or(-1));
    let mut counts = vec![0u64; (last - first + 1) as usize];
    let mut zeros = 0u64;
    for (index, count) in rows() {
        match index {
            ZERO_BUCKET => zeros += u64::from(count),
            index => counts[(index - first) as usize] += u64::from(count),
        }
    }
    let zeros = (zeros > 0).then_some((ZERO_BUCKET, zeros)).into_iter();
    let positive = (first..).zip(counts).filter(|(_, count)| *count > 0);
    Ranks::new(zeros.chain(positive))
}

/// The bounds of a bucket; zeros have none.
pub(crate) fn bounds(bucket: i32) -> Option<(f64, f64)> {
    (bucket != ZERO_BUCKET).then(|| histo::bounds(bucket))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sheet with one row per slice, the number after it censored.
    fn sheet(rows: &[(&[f64], u64)]) -> Sheet {
        let mut sheet = Sheet::new();
        for (values, censored) in rows {
            let mut histogram = Histogram::default();
            values.iter().for_each(|value| histogram.record(*value));
            sheet.push(&histogram, values.iter().sum(), *censored);
        }
        sheet
    }

    fn value(part: &SheetPart, quantile: f64) -> Option<f64> {
        part.quantiles(&[quantile])[0].estimate.as_ref().map(|estimate| estimate.value)
    }

    #[test]
    fn quantiles_are_those_of_all_seconds_together() {
        let rows: Vec<Vec<f64>> =
            (0..100).map(|s| (1..=10).map(|v| f64::from(s * 10 + v)).collect()).collect();
        let rows: Vec<(&[f64], u64)> = rows.iter().map(|row| (row.as_slice(), 0)).collect();
        let sheet = sheet(&rows);
        let part = SheetPart::new(&[(&sheet, 0..100)]);
        for (quantile, expect) in [(0.5, 500.5), (0.9, 900.1), (0.99, 990.01)] {
            let found = value(&part, quantile).expect("a value");
            assert!((found / expect - 1.0).abs() < 0.0015, "{quantile}: {found}");
        }
        let half = SheetPart::new(&[(&sheet, 50..1000)]);
        assert_eq!(half.population(), 500);
        assert!((half.mean().expect("a mean").value - 750.5).abs() < 1e-9);
    }

    #[test]
    fn censored_values_rank_above_all_others() {
        let sheet = sheet(&[(&[1.0, 2.0, 3.0], 1), (&[4.0, 5.0, 6.0], 3)]);
        let part = SheetPart::new(&[(&sheet, 0..2)]);
        assert_eq!((part.population(), part.measured()), (10, 6));
        assert!((value(&part, 0.4).expect("a value") - 5.0).abs() < 0.5);
        assert_eq!(value(&part, 0.9), None);
        assert_eq!(value(&part, 2.0), None);
    }

    #[test]
    fn an_empty_part_has_nothing() {
        let nothing = Sheet::new();
        let part = SheetPart::new(&[(&nothing, 0..10)]);
        assert!(part.mean().is_none());
        assert_eq!(value(&part, 0.5), None);
        let zeros = sheet(&[([0.0, -1.0].as_slice(), 0); 30]);
        let part = SheetPart::new(&[(&zeros, 0..30)]);
        assert_eq!((part.measured(), value(&part, 0.5)), (60, None));
    }

    #[test]
    fn seconds_keep_their_time() {
        let sheet = sheet(&[(&[], 0), (&[2.0, 4.0], 0), (&[], 2), (&[9.0], 0)]);
        assert_eq!(sheet.means(), [3.0, 3.0, 3.0, 9.0]);
        assert_eq!(sheet.at_most(4.0), [0, 2, 0, 0]);
        assert_eq!(sheet.at_most(-1.0), [0; 4]);
        assert_eq!(sheet.counts().collect::<Vec<_>>(), [(0, 0), (2, 0), (0, 2), (1, 0)]);
    }

    #[test]
    fn tail_residuals_add_up_to_nothing() {
        let sheet = sheet(&[(&[1.0, 2.0, 2.0], 1), (&[2.0, 5.0], 0), (&[7.0, 8.0, 9.0, 2.0], 0)]);
        let part = SheetPart::new(&[(&sheet, 0..3)]);
        let place = part.place(0.5);
        let sum: f64 = part.tail_residuals(&[place])[0][0].iter().sum();
        assert!(place.is_some() && sum.abs() < 1e-9, "{sum}");
    }

    #[test]
    fn rows_are_read_as_they_were_written() {
        let mut sheet = Sheet::new();
        sheet.expect_seconds(3);
        let rows: [&[(i32, u64)]; 4] = [
            &[(histo::INDEX_MIN, 1), (-1, 2047), (0, 2048), (histo::INDEX_MAX, u64::from(u32::MAX))],
            &[],
            &[(7, 5_000_000), (8, 1)],
            &[(9, 3)],
        ];
        for (others, row) in (0..).zip(rows) {
            sheet.push_counts(row.iter().copied(), others, 1.0, 0);
        }
        for (at, expect) in rows.iter().enumerate() {
            let zeros = (at > 0).then_some((ZERO_BUCKET, at as u32)).into_iter();
            let expect: Vec<(i32, u32)> = zeros.chain(expect.iter().map(|(i, n)| (*i, *n as u32))).collect();
            let mut read: Vec<(i32, u32)> = sheet.row(at).collect();
            read.reverse();
            assert_eq!(read, expect, "row {at}");
        }
        // A value that none of our files holds is cut off, and not turned into another.
        sheet.push_counts([(i32::MIN, 1), (i32::MAX, u64::MAX)].into_iter(), 0, 1.0, u64::MAX);
        assert_eq!(sheet.row(4).collect::<Vec<_>>(), [(histo::INDEX_MAX, u32::MAX), (ZERO_BUCKET, 1)]);
        assert_eq!(sheet.counts().last(), Some((u64::from(u32::MAX), u64::from(u32::MAX))));
    }
}
