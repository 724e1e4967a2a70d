//! The texts of the auditor: rules, findings, laws and the labels of figures.
//!
//! Numbers have four significant digits, as in tables. Everything is matched exhaustively, so a new rule needs its sentences here.

mod claims;
mod impacts;
mod labels;
mod laws;
mod remedies;
mod rules;

#[cfg(test)]
mod tests;

use model::{FigureValue, Unit};

pub use claims::claim;
pub use impacts::impact;
pub use labels::label;
pub use laws::{assumptions, law};
pub use remedies::{caveats, remedy};
pub use rules::rule;

/// A number in a unit that suits its size.
fn number(value: f64, unit: Unit) -> String {
    FigureValue::number(value, unit).to_string()
}

fn count(value: f64) -> String {
    number(value, Unit::Count)
}

fn seconds(value_s: f64) -> String {
    number(value_s, Unit::Seconds)
}

fn percent(value: f64) -> String {
    number(value, Unit::Percent)
}

fn per_second(value: f64) -> String {
    number(value, Unit::PerSecond)
}
