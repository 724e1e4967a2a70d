//! Display of units.

use api::Number;
use api::page::Value;

use crate::number;

/// The axis scale of a unit in UCUM; unknown units are shown as plain numbers, with the unit beside them.
pub(super) fn scale(unit: &str) -> &'static str {
    match unit {
        "1" => "share",
        "s" => "seconds",
        "ms" => "time",
        "By" => "data",
        "By/s" => "data_per_second",
        unit if unit.ends_with("/s") => "per_second",
        _ => "default",
    }
}

/// A value as it is shown.
pub(super) fn text(value: f64, scale: &str) -> String {
    match scale {
        "share" => number::percent(value),
        "seconds" => number::duration(value * 1e3, None),
        "time" => number::duration(value, None),
        "data" => number::bytes(value),
        "data_per_second" => format!("{}/s", number::bytes(value)),
        "per_second" => number::per_second(value),
        _ => number::readable(value),
    }
}

/// A value with its text.
pub(super) fn value(value: f64, scale: &str) -> Value {
    Value { value: Some(Number(value)), text: text(value, scale), censored: None }
}

/// A value, or why there is none.
pub(super) fn optional(of: Option<f64>, scale: &str) -> Value {
    let none = || Value { value: None, text: "n/a".to_owned(), censored: Some("n/a".to_owned()) };
    of.map_or_else(none, |of| value(of, scale))
}

/// Formats seconds to the millisecond, the resolution of the crosshair.
pub(super) fn millis(seconds: f64) -> Number {
    Number((seconds * 1e3).round() / 1e3)
}

/// Seconds from the start as a clock: `1:02:03`, `2:03`.
pub(crate) fn clock(seconds: f64) -> String {
    let sign = if seconds <= -1.0 { "−" } else { "" };
    let whole = seconds.abs() as u64;
    let (hours, minutes, seconds) = (whole / 3600, whole / 60 % 60, whole % 60);
    match hours {
        0 => format!("{sign}{minutes}:{seconds:02}"),
        hours => format!("{sign}{hours}:{minutes:02}:{seconds:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_shown_in_their_units() {
        let check =
            |of: f64, unit: &str, expect: &str| assert_eq!(text(of, scale(unit)), expect, "{of} {unit}");
        check(0.917_34, "{core}", "0.917");
        check(1234.56, "", "1,235");
        check(12_345.0, "", "12,345");
        check(0.9, "1", "90.00%");
        check(2_500_000.0, "By", "2.5 MB");
        check(125.04, "{message}/s", "125/s");
        check(21_899_580.4, "{row}/s", "21.9 M/s");
        check(0.0, "", "0");
        check(1.5, "s", "1.5s");
    }

    #[test]
    fn clocks_count_from_the_start() {
        assert_eq!(
            [clock(0.4), clock(98.0), clock(3723.9), clock(-2.0)],
            ["0:00", "1:38", "1:02:03", "−0:02"]
        );
    }
}
