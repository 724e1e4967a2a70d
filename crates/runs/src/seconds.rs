//! Converts the brief cells of a file to rows by second for comparisons.

use analysis::compare::Series;
use model::Brief;

/// Windows that are read together.
const MINUTE: u32 = 60;

/// The destination of one series of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub(super) place: usize,
    /// Whether the series counts failed responses, which have times but are no successes.
    pub(super) is_failure: bool,
}

/// Series that receive their seconds minute by minute.
#[derive(Debug)]
pub(super) struct Rows {
    series: Vec<Series>,
    /// The windows of the series, in order, and the number of completed ones.
    indexes: Vec<u32>,
    done: usize,
    /// The cells of the current minute, by series.
    cells: Vec<Vec<Counted>>,
    buckets: Vec<(i32, u64)>,
    /// Buffer for adding up cells.
    sum: Vec<(i32, u64)>,
}

/// A cell, whose buckets lie in a buffer shared with other cells.
#[derive(Clone, Copy, Debug)]
struct Counted {
    index: u32,
    first: usize,
    end: usize,
    others: u64,
    sum: f64,
    failures: u64,
}

impl Rows {
    pub(super) fn new(mut series: Vec<Series>, indexes: Vec<u32>) -> Rows {
        series.iter_mut().for_each(|series| series.sheet.expect_seconds(indexes.len()));
        let cells = vec![Vec::new(); series.len()];
        Rows { series, indexes, done: 0, cells, buckets: Vec::new(), sum: Vec::new() }
    }

    /// Adds a cell. Minutes come in order; cells within a minute in any order.
    pub(super) fn add(&mut self, index: u32, slot: Slot, brief: Brief<'_>) {
        let is_inside = |first: &u32, last: &u32| (*first..=*last).contains(&index);
        if !self.indexes.first().zip(self.indexes.last()).is_some_and(|(first, last)| is_inside(first, last))
        {
            return;
        }
        if self.indexes.get(self.done).is_some_and(|next| next / MINUTE < index / MINUTE) {
            self.end_minutes(index / MINUTE);
        }
        let Some(cells) = self.cells.get_mut(slot.place) else { return };
        let first = self.buckets.len();
        let counted = if slot.is_failure {
            // A fast error is not a fast response.
            let failures = brief.failures.saturating_add(brief.count());
            Counted { index, first, end: first, others: 0, sum: 0.0, failures }
        } else {
            self.buckets.extend_from_slice(brief.buckets);
            let Brief { others, sum, failures, .. } = brief;
            Counted { index, first, end: self.buckets.len(), others, sum, failures }
        };
        cells.push(counted);
    }

    /// Returns the series with all their seconds.
    pub(super) fn finish(mut self) -> Vec<Series> {
        self.end_minutes(u32::MAX);
        self.series
    }

    /// Completes the seconds of all series before a minute.
    fn end_minutes(&mut self, minute: u32) {
        let rest = &self.indexes[self.done..];
        let ended = rest.partition_point(|index| index / MINUTE < minute);
        let indexes = &rest[..ended];
        for (series, cells) in self.series.iter_mut().zip(&mut self.cells) {
            // Several series of a file may map to one series here, each in order of its windows.
            cells.sort_by_key(|cell| cell.index);
            let mut rest = &cells[..];
            for index in indexes {
                let before = rest.partition_point(|cell| cell.index < *index);
                let here = rest.partition_point(|cell| cell.index <= *index);
                push(series, &rest[before..here], &self.buckets, &mut self.sum);
                rest = &rest[here..];
            }
            cells.clear();
        }
        self.buckets.clear();
        self.done += ended;
    }
}

/// Adds a second: the sum of its cells.
fn push(series: &mut Series, cells: &[Counted], buckets: &[(i32, u64)], sum: &mut Vec<(i32, u64)>) {
    if let [cell] = cells {
        let buckets = buckets[cell.first..cell.end].iter().copied();
        return series.sheet.push_counts(buckets, cell.others, cell.sum, cell.failures);
    }
    sum.clear();
    cells.iter().for_each(|cell| sum.extend_from_slice(&buckets[cell.first..cell.end]));
    sum.sort_unstable_by_key(|bucket| bucket.0);
    sum.dedup_by(|next, kept| {
        let is_same = next.0 == kept.0;
        kept.1 = if is_same { kept.1.saturating_add(next.1) } else { kept.1 };
        is_same
    });
    let all = |of: fn(&Counted) -> u64| cells.iter().fold(0u64, |sum, cell| sum.saturating_add(of(cell)));
    let total = cells.iter().map(|cell| cell.sum).sum();
    series.sheet.push_counts(sum.iter().copied(), all(|cell| cell.others), total, all(|cell| cell.failures));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn brief(buckets: &[(i32, u64)], sum: f64, failures: u64) -> Brief<'_> {
        Brief { buckets, others: 0, sum, failures }
    }

    #[test]
    fn seconds_are_sums_of_their_cells_in_order() {
        let series = vec![Series::new("a"), Series::new("b")];
        // One window of the second minute is missing, and the last is not under load.
        let mut rows = Rows::new(series, vec![58, 59, 60, 62]);
        let (a, b) = (Slot { place: 0, is_failure: false }, Slot { place: 1, is_failure: false });
        rows.add(57, a, brief(&[(5, 9)], 9.0, 0));
        rows.add(58, a, brief(&[(5, 2)], 10.0, 0));
        rows.add(59, a, brief(&[(7, 1)], 7.0, 1));
        rows.add(58, Slot { is_failure: true, ..a }, brief(&[(1, 3)], 1.0, 1));
        rows.add(59, a, brief(&[(5, 1), (7, 1)], 13.0, 0));
        rows.add(59, b, brief(&[(9, 1)], 9.0, 0));
        rows.add(62, a, brief(&[(5, 1)], 6.0, 0));
        rows.add(63, a, brief(&[(5, 8)], 6.0, 0));
        let series = rows.finish();
        let counts = |at: usize| series[at].sheet.counts().collect::<Vec<_>>();
        assert_eq!(counts(0), [(2, 4), (3, 1), (0, 0), (1, 0)]);
        assert_eq!(counts(1), [(0, 0), (1, 0), (0, 0), (0, 0)]);
        assert_eq!(series[0].sheet.means(), [5.0, 20.0 / 3.0, 20.0 / 3.0, 6.0]);
    }

    #[test]
    fn without_cells_there_are_empty_seconds() {
        let series = Rows::new(vec![Series::new("a")], vec![0, 1, 61]).finish();
        assert_eq!(series[0].sheet.len(), 3);
        assert!(Rows::new(Vec::new(), Vec::new()).finish().is_empty());
    }
}
