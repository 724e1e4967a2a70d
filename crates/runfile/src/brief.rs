//! Cells that are borrowed from a block and never built: whole distributions, or the parts from which quantiles and means are computed.
//!
//! An hour of 500 series has two million cells. Adding them up needs no histogram of each.

use histo::{BorrowedValues, Values};
use model::{Aggregate, Brief, Failures, Trend};

/// How much of a cell is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// It is stepped over.
    Nothing,
    /// A [`Brief`] of a trend; other cells are whole, since they are small anyway.
    Brief,
    /// All of it.
    Whole,
}

/// The value of one series in one window or step.
#[derive(Debug)]
pub enum Cell<'a> {
    /// All of it.
    Whole(Aggregate),
    /// All of a trend, borrowed.
    Trend(LentTrend<'a>),
    /// A trend in brief.
    Brief(Brief<'a>),
}

/// A trend that is not built; it lasts until the next is read.
#[derive(Debug)]
pub struct LentTrend<'a> {
    pub(crate) values: BorrowedValues<'a>,
    pub(crate) failures: Option<Box<Failures>>,
}

impl Cell<'_> {
    /// The cell by itself; `None` if it is a brief one.
    pub fn into_aggregate(self) -> Option<Aggregate> {
        match self {
            Cell::Whole(aggregate) => Some(aggregate),
            Cell::Trend(trend) => Some(Aggregate::Trend(trend.into_trend())),
            Cell::Brief(_) => None,
        }
    }

    /// Adds the cell to a sum of its series, exactly as if it were built and merged; a brief one adds nothing.
    pub(crate) fn add_to(&self, sum: &mut Aggregate) {
        match (self, sum) {
            (Cell::Trend(trend), Aggregate::Trend(sum)) => trend.add_to(sum),
            (Cell::Whole(aggregate), sum) => sum.merge(aggregate),
            (Cell::Trend(_) | Cell::Brief(_), _) => {}
        }
    }
}

impl LentTrend<'_> {
    /// Adds the trend to another, exactly as if it were built and merged.
    pub fn add_to(&self, sum: &mut Trend) {
        sum.values.add(&self.values);
        if let Some(failures) = &self.failures {
            sum.failures.get_or_insert_default().merge(failures);
        }
    }

    pub(crate) fn into_trend(self) -> Trend {
        Trend { values: Values::from(&self.values), failures: self.failures }
    }
}

/// Reusable buffer behind a borrowed [`Brief`], where a whole trend is in memory already.
#[derive(Debug, Default)]
pub(crate) struct BriefRoom {
    buckets: Vec<(i32, u64)>,
}

impl BriefRoom {
    /// The cell as it is wanted.
    pub(crate) fn cell(&mut self, aggregate: Aggregate, want: Want) -> Cell<'_> {
        match aggregate {
            Aggregate::Trend(trend) if want == Want::Brief => Cell::Brief(self.brief(&trend)),
            aggregate => Cell::Whole(aggregate),
        }
    }

    fn brief(&mut self, trend: &Trend) -> Brief<'_> {
        let histogram = trend.values.to_histogram();
        self.buckets.clear();
        self.buckets.extend(histogram.positive());
        let positive = self.buckets.iter().fold(0u64, |sum, bucket| sum.saturating_add(bucket.1));
        let failures = trend.failures.as_ref().map_or(0, |failures| {
            failures.timed_out.count() + failures.cut.count() + failures.dropped + failures.failed
        });
        let others = histogram.count().saturating_sub(positive);
        Brief { buckets: &self.buckets, others, sum: trend.values.sum().value(), failures }
    }
}

#[cfg(test)]
mod tests {
    use model::{Instant, Mark, MetricKind};

    use super::*;

    #[test]
    fn a_trend_in_brief_keeps_its_counts() {
        let mut trend = Aggregate::empty(MetricKind::Trend);
        for (value, mark) in [
            (5.0, Mark::Measured),
            (0.0, Mark::Measured),
            (5.0, Mark::Measured),
            (-1.0, Mark::Measured),
            (60_000.0, Mark::TimedOut),
            (1.0, Mark::Dropped),
        ] {
            trend.record(value, mark, Instant::ZERO);
        }
        let mut room = BriefRoom::default();
        let Cell::Brief(brief) = room.cell(trend.clone(), Want::Brief) else {
            panic!("a trend can be brief")
        };
        let expect = Brief { buckets: &[(histo::index_of(5.0), 2)], others: 2, sum: 9.0, failures: 2 };
        assert_eq!((brief, brief.count()), (expect, 4));
        assert!(matches!(room.cell(trend, Want::Whole), Cell::Whole(Aggregate::Trend(_))));
    }
}
