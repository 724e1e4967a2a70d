//! Numbers for people: three significant digits, thousands separated, a unit after a space.

use model::Unit;

/// Returns a number with its unit. Whole numbers of things keep all of their digits.
pub fn number(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Count if value.fract() == 0.0 => whole(value),
        Unit::Count => count(value),
        Unit::Percent => percent(value / 100.0),
        Unit::Points => format!("{} points", count(value)),
        Unit::Seconds => time(value),
        Unit::PerSecond => rate(value),
        Unit::PerMinute => format!("{}/min", count(value)),
        Unit::Cores => format!("{} cores", count(value)),
        Unit::Bytes => bytes(value),
        Unit::Vus => format!("{} VUs", count(value)),
    }
}

/// Returns a time, in seconds, milliseconds or microseconds.
pub(super) fn time(seconds: f64) -> String {
    let size = rounded(seconds).abs();
    match size {
        _ if size >= 1.0 || size == 0.0 => format!("{} s", count(seconds)),
        _ if size >= 1e-3 => format!("{} ms", count(seconds * 1e3)),
        _ => format!("{} µs", count(seconds * 1e6)),
    }
}

/// Returns a rate per second.
pub(super) fn rate(per_s: f64) -> String {
    format!("{}/s", count(per_s))
}

/// Returns bytes in binary units.
pub(super) fn bytes(bytes: f64) -> String {
    const UNITS: [(f64, &str); 3] = [(1_073_741_824.0, "GiB"), (1_048_576.0, "MiB"), (1_024.0, "KiB")];
    let fits = UNITS.into_iter().find(|(size, _)| bytes.abs() >= *size);
    fits.map_or_else(
        || format!("{} B", count(bytes)),
        |(size, unit)| format!("{} {unit}", count(bytes / size)),
    )
}

/// Returns a data rate in decimal megabytes, as links are measured.
pub(super) fn data_rate(bytes_per_s: f64) -> String {
    format!("{} MB/s", count(bytes_per_s / 1e6))
}

/// Returns a share of 1 as percent with two significant digits, or as many whole ones as it has.
pub(super) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    let decimals = if percent.abs() >= 9.95 { 0 } else { 1 };
    let text = format!("{:.decimals$}", percent + 0.0);
    format!("{} %", grouped(text.strip_suffix(".0").unwrap_or(&text)))
}

/// Returns a number with three significant digits.
pub(super) fn count(value: f64) -> String {
    if !value.is_finite() {
        return "∞".to_owned();
    }
    let value = rounded(value);
    let decimals = match value.abs() {
        size if size >= 100.0 || size == 0.0 => 0,
        size => (2 - size.log10().floor() as i32).clamp(0, 9) as usize,
    };
    let text = format!("{value:.decimals$}");
    match text.split_once('.') {
        Some((whole, decimals)) => match decimals.trim_end_matches('0') {
            "" => grouped(whole),
            decimals => format!("{}.{decimals}", grouped(whole)),
        },
        None => grouped(&text),
    }
}

/// Returns a whole number with all of its digits.
pub(super) fn whole(value: f64) -> String {
    // A sum of nothing is a zero below zero.
    grouped(&format!("{:.0}", value + 0.0))
}

/// Rounds to three significant digits.
fn rounded(value: f64) -> f64 {
    let value = value + 0.0;
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let scale = 10_f64.powi(2 - value.abs().log10().floor() as i32);
    (value * scale).round() / scale
}

/// Separates thousands.
fn grouped(digits: &str) -> String {
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |digits| ("-", digits));
    let mut text = String::from(sign);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_significant_digits() {
        assert_eq!([time(0.123_456), time(59.24), time(0.000_123_4)], ["123 ms", "59.2 s", "123 µs"]);
        assert_eq!([rate(421.43), rate(1_148.2), rate(0.9999)], ["421/s", "1,150/s", "1/s"]);
        assert_eq!([count(69.227), count(-0.0), count(1_234_567.0)], ["69.2", "0", "1,230,000"]);
        assert_eq!(
            [percent(0.634), percent(0.012), percent(0.0), percent(0.02)],
            ["63 %", "1.2 %", "0 %", "2 %"]
        );
        assert_eq!([bytes(199_000.0), bytes(512.0), bytes(1.62e9)], ["194 KiB", "512 B", "1.51 GiB"]);
        assert_eq!(data_rate(6_500_000.0), "6.5 MB/s");
        assert_eq!(number(1_336.0, Unit::Count), "1,336");
        assert_eq!(number(0.999_9, Unit::Seconds), "1 s");
    }
}
