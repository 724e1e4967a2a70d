//! Trends encoded as bytes: a tenth of their memory, for percentiles over several points.

use histo::Values;
use model::{Failures, Trend};

/// A trend, encoded as bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct Packed {
    values: Box<[u8]>,
    failures: Option<Box<PackedFailures>>,
}

#[derive(Clone, Debug)]
struct PackedFailures {
    timed_out: Box<[u8]>,
    cut: Box<[u8]>,
    dropped: u64,
    failed: u64,
}

impl Packed {
    /// Packs a trend.
    pub(super) fn new(trend: &Trend) -> Packed {
        if trend.population() == 0 {
            return Packed::default();
        }
        let bytes = |values: &Values| values.to_bytes().into_boxed_slice();
        let failures = trend.failures.as_deref().map(|failures| {
            let Failures { timed_out, cut, dropped, failed } = failures;
            let (timed_out, cut) = (bytes(timed_out), bytes(cut));
            Box::new(PackedFailures { timed_out, cut, dropped: *dropped, failed: *failed })
        });
        Packed { values: bytes(&trend.values), failures }
    }

    /// Returns the trend.
    pub(super) fn unpack(&self) -> Trend {
        // No bytes are those of an empty trend.
        let values = |bytes: &[u8]| Values::from_bytes(bytes).unwrap_or_default();
        let failures = self.failures.as_deref().map(|packed| {
            let PackedFailures { timed_out, cut, dropped, failed } = packed;
            let (timed_out, cut) = (values(timed_out), values(cut));
            Box::new(Failures { timed_out, cut, dropped: *dropped, failed: *failed })
        });
        Trend { values: values(&self.values), failures }
    }

    /// Returns the bytes that the trend takes beside the size of this type.
    pub(super) fn bytes(&self) -> usize {
        let failures = self.failures.as_deref().map_or(0, |failures| {
            size_of::<PackedFailures>() + failures.timed_out.len() + failures.cut.len()
        });
        self.values.len() + failures
    }
}

#[cfg(test)]
mod tests {
    use model::Mark;

    use super::*;

    #[test]
    fn a_trend_comes_back_whole() {
        let check = |samples: u32, marks: &[Mark]| {
            let mut trend = Trend::default();
            for value in 0..samples {
                let mark = marks.get(value as usize % 10).copied().unwrap_or(Mark::Measured);
                trend.record(f64::from(value) / 7.0, mark);
            }
            let packed = Packed::new(&trend);
            assert_eq!(packed.unpack(), trend, "{samples}");
            assert_eq!(packed.bytes() == 0, samples == 0);
        };
        check(0, &[]);
        check(10, &[]);
        check(100_000, &[]);
        check(1_000, &[Mark::TimedOut, Mark::Cut, Mark::Failed, Mark::Dropped]);
    }
}
