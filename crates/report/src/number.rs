//! Numbers as k6 prints them.

use model::plan::TimeUnit;
use model::{MetricKind, ValueKind};

/// From here on JavaScript, and so k6, prints an exponent: 10^21.
const EXPONENT_FROM: f64 = 1e21;

/// A metric's value in its own unit.
pub fn value(value: f64, contains: ValueKind, unit: Option<TimeUnit>) -> String {
    match contains {
        ValueKind::Time => duration(value, unit),
        ValueKind::Data => bytes(value),
        ValueKind::Default => plain(value),
    }
}

/// A statistic of a metric: rates are shares in percent, a counter's `rate` is per second.
pub fn statistic(
    number: f64,
    name: &str,
    kind: MetricKind,
    contains: ValueKind,
    unit: Option<TimeUnit>,
) -> String {
    match (kind, name) {
        (MetricKind::Rate, _) => percent(number),
        (MetricKind::Counter, "rate") => format!("{}/s", value(number, contains, unit)),
        (MetricKind::Trend, "count") => plain(number),
        _ => value(number, contains, unit),
    }
}

/// A number without a unit: at most six decimals, no trailing zeros.
pub fn plain(value: f64) -> String {
    trimmed(fixed(value, 6))
}

/// From here on a number is written with a letter for its power of ten, as in `2.17 M`: more digits are not read.
const LETTER_FROM: f64 = 1e6;

/// Digits of a number that is not whole, and of one with a letter.
const DIGITS: i32 = 3;

/// A number for people: thousands separated, three digits of what is not whole, and a letter from a million on (`2.17 M`).
pub fn readable(value: f64) -> String {
    const LETTERS: [(f64, &str); 3] = [(1e12, "T"), (1e9, "G"), (1e6, "M")];
    if !value.is_finite() || value.abs() >= LETTERS[0].0 * 1e3 {
        return if value.is_finite() { format!("{value:.2e}") } else { plain(value) };
    }
    let rounded = if value.fract() == 0.0 { value } else { significant(value) };
    // What is rounded up to a million has a letter as well.
    let letter = LETTERS.iter().find(|(from, _)| significant(value).abs() >= *from);
    match letter.filter(|_| rounded.abs() >= LETTER_FROM) {
        Some((from, letter)) => format!("{} {letter}", plain(significant(value / from))),
        None => grouped(&plain(rounded)),
    }
}

/// A rate for people: three digits that count, `1,150/s`.
pub fn per_second(rate: f64) -> String {
    let size = if rate == 0.0 || !rate.is_finite() { 0 } else { rate.abs().log10().floor() as i32 + 1 };
    if size <= DIGITS {
        return format!("{}/s", readable(rate));
    }
    let factor = 10f64.powi(size - DIGITS);
    format!("{}/s", readable((rate / factor).round() * factor))
}

/// A number with three digits that count; digits before the decimal point stay.
fn significant(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let before = value.abs().log10().floor() as i32 + 1;
    let factor = 10f64.powi((DIGITS - before).clamp(0, 12));
    (value * factor).round() / factor
}

/// Digits before a decimal point in threes.
fn grouped(text: &str) -> String {
    let (whole, rest) =
        text.split_once('.').map_or((text, String::new()), |(whole, rest)| (whole, format!(".{rest}")));
    let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |digits| ("-", digits));
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{sign}{grouped}{rest}")
}

/// A share of 1 in percent, cut to two decimals.
pub fn percent(share: f64) -> String {
    format!("{}%", fixed((share * 100.0 * 100.0).trunc() / 100.0, 2))
}

/// Bytes in powers of 1000: one decimal below ten, none above.
pub fn bytes(value: f64) -> String {
    const UNITS: &[&str] = &["B", "kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"];
    // k6 leaves what is below ten bytes as it is, with all its decimals.
    if value.is_nan() || value < 10.0 {
        return format!("{} B", javascript(value));
    }
    let (mut scaled, mut unit) = (value, 0);
    while scaled >= 1000.0 && unit + 1 < UNITS.len() {
        scaled /= 1000.0;
        unit += 1;
    }
    let rounded = (scaled * 10.0 + 0.5).floor() / 10.0;
    format!("{} {}", fixed(rounded, usize::from(rounded < 10.0 && unit > 0)), UNITS[unit])
}

/// A value in its base unit with as few decimals as distinguish it from another value; `None` where six do not.
pub fn distinguished(value: f64, other: f64, kind: MetricKind, contains: ValueKind) -> Option<String> {
    let (factor, unit) = match (kind, contains) {
        (MetricKind::Rate, _) => (100.0, "%"),
        (_, ValueKind::Time) => (1.0, "ms"),
        (_, ValueKind::Data) => (1.0, " B"),
        (_, ValueKind::Default) => (1.0, ""),
    };
    let texts = |decimals| (fixed(value * factor, decimals), fixed(other * factor, decimals));
    let (text, _) = (0..=6).map(texts).find(|(value, other)| value != other)?;
    Some(format!("{text}{unit}"))
}

/// A duration of `ms` milliseconds; without a unit of choice, in the unit that suits it, cut to two decimals.
pub fn duration(ms: f64, unit: Option<TimeUnit>) -> String {
    match unit {
        None => humanised(ms),
        Some(TimeUnit::Seconds) => format!("{}s", fixed(ms * 0.001, 2)),
        Some(TimeUnit::Milliseconds) => format!("{}ms", fixed(ms, 2)),
        Some(TimeUnit::Microseconds) => format!("{}µs", fixed(ms * 1000.0, 2)),
    }
}

/// A value that is only known to be at least `bound`, and why: `≥ 60 s (timeout)`.
pub fn at_least(bound: f64, why: &str, contains: ValueKind) -> String {
    let bound = match contains {
        ValueKind::Time if bound >= 1000.0 => format!("{} s", cut(bound / 1000.0)),
        ValueKind::Time => format!("{} ms", cut(bound)),
        ValueKind::Data => bytes(bound),
        ValueKind::Default => plain(bound),
    };
    format!("≥ {bound} ({why})")
}

fn humanised(ms: f64) -> String {
    if ms == 0.0 {
        return "0s".into();
    }
    if ms < 0.001 {
        return format!("{}ns", javascript((ms * 1e6).trunc()));
    }
    if ms < 1.0 {
        return format!("{}µs", cut(ms * 1000.0));
    }
    if ms < 1000.0 {
        return format!("{}ms", cut(ms));
    }
    let minutes = (ms / 60_000.0).trunc();
    if minutes < 1.0 {
        return format!("{}s", cut(ms / 1000.0));
    }
    let seconds = javascript((ms % 60_000.0 / 1000.0).trunc());
    let hours = (minutes / 60.0).trunc();
    let minutes = javascript(minutes % 60.0);
    if hours < 1.0 {
        format!("{minutes}m{seconds}s")
    } else {
        format!("{}h{minutes}m{seconds}s", javascript(hours))
    }
}

/// At most two decimals, the rest cut off.
fn cut(value: f64) -> String {
    trimmed(fixed((value * 100.0).trunc() / 100.0, 2))
}

/// `Number.prototype.toFixed`: ties go up, and what is too large keeps its exponent.
fn fixed(value: f64, decimals: usize) -> String {
    if !value.is_finite() || value.abs() >= EXPONENT_FROM {
        return javascript(value);
    }
    // Rust rounds ties to even; a tie has few enough binary digits to be seen exactly one decimal further.
    let tie = format!("{:.*}", decimals + 30, value);
    let is_tie = tie.trim_end_matches('0').ends_with('5')
        && tie.trim_end_matches('0').split('.').nth(1).is_some_and(|part| part.len() == decimals + 1);
    if !is_tie {
        return format!("{value:.decimals$}");
    }
    let away = value + 0.1f64.powi(decimals as i32 + 1) * value.signum();
    format!("{away:.decimals$}")
}

fn trimmed(text: String) -> String {
    if !text.contains('.') || text.contains('e') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// `Number.prototype.toString`.
fn javascript(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    if value.is_nan() {
        return "NaN".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity".into() } else { "-Infinity".into() };
    }
    if value.abs() < EXPONENT_FROM && value.abs() >= 1e-6 {
        return format!("{value}");
    }
    let text = format!("{value:e}");
    if text.contains("e-") { text } else { text.replace('e', "e+") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `value, as a number, as a time, as a time in s, in ms, in µs`, as k6 v2.2 printed them.
    const NUMBERS: &str = include_str!("../golden/numbers.tsv");
    /// `bytes, as k6 v2.2 printed them`.
    const BYTES: &str = include_str!("../golden/bytes.tsv");
    /// `passes, total, as k6 v2.2 printed them`.
    const SHARES: &str = include_str!("../golden/shares.tsv");

    #[track_caller]
    fn check(line: &str, actual: &[String]) {
        let expect: Vec<&str> = line.split('\t').skip(1).collect();
        assert_eq!(actual, expect, "{line}");
    }

    #[test]
    fn numbers_and_times_are_printed_as_k6_does() {
        assert!(NUMBERS.lines().count() > 80);
        for line in NUMBERS.lines() {
            let number: f64 = line.split('\t').next().and_then(|field| field.parse().ok()).expect("a number");
            let in_unit = |unit| duration(number, Some(unit));
            let actual = [
                plain(number),
                duration(number, None),
                in_unit(TimeUnit::Seconds),
                in_unit(TimeUnit::Milliseconds),
                in_unit(TimeUnit::Microseconds),
            ];
            check(line, &actual);
        }
    }

    #[test]
    fn bytes_are_printed_as_k6_does() {
        assert!(BYTES.lines().count() > 40);
        for line in BYTES.lines() {
            let number: f64 = line.split('\t').next().and_then(|field| field.parse().ok()).expect("a number");
            check(line, &[bytes(number)]);
        }
    }

    #[test]
    fn shares_are_printed_as_k6_does() {
        assert!(SHARES.lines().count() > 80);
        for line in SHARES.lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            let number = |index: usize| fields[index].parse::<f64>().expect("a number");
            assert_eq!(percent(number(0) / number(1)), fields[2], "{line}");
        }
    }

    #[test]
    fn numbers_for_people_have_no_more_digits_than_are_read() {
        let check = |value: f64, expect: &str| assert_eq!(readable(value), expect, "{value}");
        check(2_174_379.651, "2.17 M");
        check(21_899_580.0, "21.9 M");
        check(3_564_212.0, "3.56 M");
        check(999_999.7, "1 M");
        check(705_586.4, "705,586");
        check(12_345.0, "12,345");
        check(-1234.56, "-1,235");
        check(0.917_34, "0.917");
        check(1e9, "1 G");
        check(7.5e13, "75 T");
        check(7.5e21, "7.50e21");
        check(0.0, "0");
        check(f64::INFINITY, "Infinity");
        let rates = [1_148.2, 796.557_183, 0.035_559, 12_660.0, 2_174_379.6, 0.0].map(per_second);
        assert_eq!(rates, ["1,150/s", "797/s", "0.0356/s", "12,700/s", "2.17 M/s", "0/s"]);
    }

    #[test]
    fn ties_go_up_as_in_javascript() {
        assert_eq!(
            (fixed(0.125, 2), fixed(10.5, 0), fixed(-0.125, 2)),
            ("0.13".into(), "11".into(), "-0.13".into())
        );
        assert_eq!((fixed(2.5, 0), fixed(2.675, 2)), ("3".into(), "2.67".into()));
    }
}
