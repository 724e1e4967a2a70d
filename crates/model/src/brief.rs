//! A distribution in brief.

/// The part of one series' window from which quantiles and means over many windows are computed; borrowed from the
/// reader of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Brief<'a> {
    /// Index (as of [`histo::index_of`]) and count of the buckets of positive values, by index.
    pub buckets: &'a [(i32, u64)],
    /// How many values were zero or negative.
    pub others: u64,
    /// The sum of all values.
    pub sum: f64,
    /// How many have no value: those that timed out, were cut or dropped, and those that failed.
    pub failures: u64,
}

impl Brief<'_> {
    /// How many values there are.
    pub fn count(&self) -> u64 {
        self.buckets.iter().fold(self.others, |sum, bucket| sum.saturating_add(bucket.1))
    }
}
