//! The one histogram. (first cut; see `Values`)

/// An order-free sum of floats.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FixedSum(f64);

impl FixedSum {
    /// Adds a value.
    pub fn add(&mut self, value: f64) {
        self.0 += value;
    }
    /// Adds another sum.
    pub fn merge(&mut self, other: &FixedSum) {
        self.0 += other.0;
    }
    /// The sum.
    pub fn value(&self) -> f64 {
        self.0
    }
}

/// Values: exact at first, a histogram later.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values(Vec<f64>);

impl Values {
    /// Records a value.
    pub fn record(&mut self, value: f64) {
        self.0.push(value);
    }
    /// Adds all values of `other`.
    pub fn merge(&mut self, other: &Values) {
        self.0.extend(&other.0);
    }
    /// How many values.
    pub fn count(&self) -> u64 {
        self.0.len() as u64
    }
}
