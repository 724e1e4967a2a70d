//! Parts of findings: their weight, their reasoning, and numbers with units.

use std::fmt;

/// How much a finding matters, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing; no conclusion changes.
    Note,
    /// A conclusion may be wrong.
    Warning,
    /// A number is wrong, or a conclusion does not follow.
    Error,
}

impl Severity {
    /// Its word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// The kind of reasoning a finding rests on, the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Strength {
    /// An identity of arithmetic, or a definition: it cannot be otherwise.
    Arithmetic,
    /// Something stands at its limit, or above it.
    Limit,
    /// A test of statistics with a stated error.
    Statistics,
    /// A pattern that has one usual cause, and could have another.
    Pattern,
}

impl Strength {
    /// Its word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Strength::Arithmetic => "arithmetic",
            Strength::Limit => "limit",
            Strength::Statistics => "statistics",
            Strength::Pattern => "pattern",
        }
    }
}

/// A figure itself.
#[derive(Clone, Debug, PartialEq)]
pub enum FigureValue {
    /// A number and what it counts.
    Number {
        /// The number.
        value: f64,
        /// Its unit.
        unit: Unit,
    },
    /// A text: a timestamp, a name.
    Text(String),
}

/// The unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Things, or nothing in particular.
    Count,
    /// Hundredths.
    Percent,
    /// Differences of percentages.
    Points,
    /// Seconds.
    Seconds,
    /// Per second.
    PerSecond,
    /// Per minute.
    PerMinute,
    /// Processors.
    Cores,
    /// Bytes.
    Bytes,
    /// Virtual users.
    Vus,
}

impl Unit {
    /// Its symbol; empty for [`Unit::Count`].
    pub const fn as_str(self) -> &'static str {
        match self {
            Unit::Count => "",
            Unit::Percent => "%",
            Unit::Points => "points",
            Unit::Seconds => "s",
            Unit::PerSecond => "/s",
            Unit::PerMinute => "/min",
            Unit::Cores => "cores",
            Unit::Bytes => "B",
            Unit::Vus => "VUs",
        }
    }
}

impl FigureValue {
    /// A number in a unit.
    pub const fn number(value: f64, unit: Unit) -> FigureValue {
        FigureValue::Number { value, unit }
    }
}

impl fmt::Display for FigureValue {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FigureValue::Text(text) => out.write_str(text),
            FigureValue::Number { value, unit } => write_number(out, *value, *unit),
        }
    }
}

/// A number as people say it: four digits that mean something, in a unit that suits its size.
fn write_number(out: &mut fmt::Formatter<'_>, value: f64, unit: Unit) -> fmt::Result {
    let size = value.abs();
    let (scaled, symbol) = match unit {
        Unit::Count => (value, ""),
        Unit::Percent => (value, " %"),
        Unit::PerSecond => (value, "/s"),
        Unit::PerMinute => (value, "/min"),
        Unit::Points => (value, " points"),
        Unit::Cores => (value, " cores"),
        Unit::Vus => (value, " VUs"),
        Unit::Seconds if size >= 1.0 || size == 0.0 => (value, " s"),
        Unit::Seconds if size >= 1e-3 => (value * 1e3, " ms"),
        Unit::Seconds => (value * 1e6, " µs"),
        Unit::Bytes if size >= 1073741824.0 => (value / 1073741824.0, " GiB"),
        Unit::Bytes if size >= 1048576.0 => (value / 1048576.0, " MiB"),
        Unit::Bytes => (value, " B"),
    };
    write!(out, "{}{symbol}", significant(scaled))
}

/// Four significant digits, whole numbers in full, without trailing zeros.
fn significant(value: f64) -> String {
    if !value.is_finite() {
        return value.to_string();
    }
    if value.abs() >= 1000.0 || value == value.trunc() {
        return format!("{value:.0}");
    }
    let magnitude = value.abs().log10().floor() as i32;
    let decimals = (3 - magnitude).clamp(0, 9) as usize;
    let text = format!("{value:.decimals$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(value: f64, unit: Unit, expect: &str) {
        assert_eq!(FigureValue::number(value, unit).to_string(), expect, "{value} {unit:?}");
    }

    #[test]
    fn numbers_have_the_digits_that_mean_something() {
        check(69.227, Unit::Count, "69.23");
        check(132_197.0, Unit::Count, "132197");
        check(0.21309, Unit::Points, "0.2131 points");
        check(421.43, Unit::PerMinute, "421.4/min");
        check(-8.0, Unit::Percent, "-8 %");
        check(0.0991, Unit::Seconds, "99.1 ms");
        check(3.04, Unit::Seconds, "3.04 s");
        check(0.0, Unit::Seconds, "0 s");
        check(1.62e9, Unit::Bytes, "1.509 GiB");
        check(f64::NAN, Unit::Count, "NaN");
    }
}
