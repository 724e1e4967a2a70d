//! Durations as k6 reads and prints them: Go's notation, days in front, bare numbers in milliseconds.

use std::time::Duration;

/// A signed length of time in nanoseconds; negative ones are read, so that a later check can name their option.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct GoDuration {
    /// Nanoseconds.
    pub ns: i64,
}

const NS_PER_MS: f64 = 1e6;
const NS_PER_S: i64 = 1_000_000_000;
const NS_PER_DAY: i64 = 24 * 3600 * NS_PER_S;

impl GoDuration {
    /// So many whole seconds.
    pub const fn from_secs(seconds: u32) -> GoDuration {
        GoDuration { ns: seconds as i64 * NS_PER_S }
    }

    /// So many milliseconds, fractions too; `None` when it does not fit.
    pub fn from_ms(ms: f64) -> Option<GoDuration> {
        let ns = (ms * NS_PER_MS).round();
        // i64::MAX rounds up to 2^63 as a float, so the comparison is strict.
        (ns.is_finite() && ns.abs() < i64::MAX as f64).then_some(GoDuration { ns: ns as i64 })
    }

    /// Parses `1h2m3s500ms`, `1.5s`, `300us`, `1d12h`, `-5s`, and a bare number of milliseconds; `None` for the rest.
    pub fn parse(text: &str) -> Option<GoDuration> {
        if let Ok(ms) = text.parse::<f64>() {
            return GoDuration::from_ms(ms);
        }
        let (negative, unsigned) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let (days, rest) = match unsigned.split_once('d') {
            Some((days, rest)) => (Some(parse_days(days)?), rest),
            None => (None, unsigned),
        };
        let rest_ns = if rest.is_empty() && days.is_some() { 0 } else { parse_units(rest)? };
        let ns = days.unwrap_or(0).checked_add(rest_ns)?;
        Some(GoDuration { ns: if negative { -ns } else { ns } })
    }

    /// Parses a length of time of the program's own flags and settings: not negative, and with a unit, since a bare number would
    /// be milliseconds to users of k6 and seconds to everybody else. Zero needs no unit.
    ///
    /// # Errors
    /// The unit is missing, or the text is no length of time.
    pub fn parse_with_unit(text: &str) -> Result<GoDuration, LengthError> {
        let parsed =
            GoDuration::parse(text).filter(|length| length.ns >= 0).ok_or(LengthError::Unreadable)?;
        let number = text.parse::<f64>().ok().filter(|number| *number != 0.0);
        match number {
            Some(_) => Err(LengthError::NoUnit { number: text.to_owned() }),
            None => Ok(parsed),
        }
    }

    /// The length as the standard type; negative ones become zero.
    pub fn to_std(self) -> Duration {
        Duration::from_nanos(u64::try_from(self.ns).unwrap_or(0))
    }
}

/// Why a text is no length of time with its unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LengthError {
    /// A number alone.
    NoUnit {
        /// The number as written.
        number: String,
    },
    /// Something else, or a negative length.
    Unreadable,
}

impl std::fmt::Display for LengthError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LengthError::NoUnit { number } => {
                let number = number.trim_start_matches('+');
                write!(
                    f,
                    "the unit is missing; write {number}s for seconds, or {number}ms, {number}m, {number}h"
                )?;
                // Days have no fractions.
                let is_whole = number.bytes().all(|byte| byte.is_ascii_digit());
                if is_whole { write!(f, ", {number}d") } else { Ok(()) }
            }
            LengthError::Unreadable => f.write_str("it is no length of time; write 30s, 5m, 1h30m or 7d"),
        }
    }
}

impl std::error::Error for LengthError {}

impl From<Duration> for GoDuration {
    /// Saturates at 292 years.
    fn from(duration: Duration) -> GoDuration {
        GoDuration { ns: i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX) }
    }
}

impl std::fmt::Display for GoDuration {
    /// Go's notation: `1h2m3.5s`, `1m0s`, `1.5ms`, `0s`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = if self.ns < 0 { "-" } else { "" };
        let ns = self.ns.unsigned_abs();
        f.write_str(sign)?;
        match ns {
            0 => f.write_str("0s"),
            1..1_000 => write!(f, "{ns}ns"),
            1_000..1_000_000 => write!(f, "{}µs", fraction(ns, 1_000)),
            1_000_000..1_000_000_000 => write!(f, "{}ms", fraction(ns, 1_000_000)),
            _ => write_clock(f, ns),
        }
    }
}

fn write_clock(f: &mut std::fmt::Formatter<'_>, ns: u64) -> std::fmt::Result {
    let minute = 60 * NS_PER_S as u64;
    let (hours, minutes) = (ns / (60 * minute), ns / minute % 60);
    if hours > 0 {
        write!(f, "{hours}h")?;
    }
    if hours > 0 || minutes > 0 {
        write!(f, "{minutes}m")?;
    }
    write!(f, "{}s", fraction(ns % minute, NS_PER_S as u64))
}

/// `value / unit` without trailing zeros.
fn fraction(value: u64, unit: u64) -> String {
    let (whole, rest) = (value / unit, value % unit);
    if rest == 0 {
        return whole.to_string();
    }
    let width = unit.ilog10() as usize;
    format!("{whole}.{}", format!("{rest:0width$}").trim_end_matches('0'))
}

/// Whole days in nanoseconds; k6 has no fractions of days either.
fn parse_days(text: &str) -> Option<i64> {
    let all_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let days: i64 = all_digits.then(|| text.parse().ok()).flatten()?;
    days.checked_mul(NS_PER_DAY)
}

/// A row of numbers with units, `1h2m3.5s`, in nanoseconds.
fn parse_units(mut text: &str) -> Option<i64> {
    if text.is_empty() {
        return None;
    }
    let mut total: i64 = 0;
    while !text.is_empty() {
        let number_end = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, rest) = text.split_at(number_end);
        let unit_end = rest.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(rest.len());
        let (unit, rest) = rest.split_at(unit_end);
        total = total.checked_add(scale(number, unit_ns(unit)?)?)?;
        text = rest;
    }
    Some(total)
}

fn unit_ns(unit: &str) -> Option<i64> {
    Some(match unit {
        "ns" => 1,
        // Both the micro sign and the Greek letter are in use.
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => NS_PER_S,
        "m" => 60 * NS_PER_S,
        "h" => 3600 * NS_PER_S,
        _ => return None,
    })
}

/// A decimal number times a unit, exactly; digits below a nanosecond are cut off, as in Go.
fn scale(number: &str, unit_ns: i64) -> Option<i64> {
    let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && decimals.is_empty()) || decimals.contains('.') {
        return None;
    }
    let whole_ns = if whole.is_empty() { 0 } else { whole.parse::<i64>().ok()?.checked_mul(unit_ns)? };
    let mut decimals_ns = 0;
    let mut divisor: i128 = 1;
    // Beyond 18 digits nothing is left of the largest unit.
    for digit in decimals.bytes().take(18) {
        divisor *= 10;
        decimals_ns = decimals_ns * 10 + i128::from(digit - b'0');
    }
    let decimals_ns = i64::try_from(decimals_ns * i128::from(unit_ns) / divisor).ok()?;
    whole_ns.checked_add(decimals_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text that k6 v2.2 `inspect` prints for a `duration` of this text; `None` where it refuses it.
    fn check(text: &str, expect: Option<&str>) {
        assert_eq!(GoDuration::parse(text).map(|it| it.to_string()).as_deref(), expect, "{text:?}");
    }

    #[test]
    fn durations_equal_k6() {
        for (text, printed) in [
            ("10", "10ms"),
            ("5", "5ms"),
            ("2.5", "2.5ms"),
            ("1e3", "1s"),
            ("0", "0s"),
            ("1d2h", "26h0m0s"),
            ("1d", "24h0m0s"),
            ("-1d", "-24h0m0s"),
            ("5us", "5µs"),
            ("5µs", "5µs"),
            ("+5s", "5s"),
            (".5s", "500ms"),
            ("1h2m3s500ms", "1h2m3.5s"),
            ("1.5m", "1m30s"),
            ("1500us", "1.5ms"),
            ("90m", "1h30m0s"),
            ("25h", "25h0m0s"),
            ("7ns", "7ns"),
            ("123456us", "123.456ms"),
            ("60s", "1m0s"),
            ("0.0001", "100ns"),
        ] {
            check(text, Some(printed));
        }
        for text in [
            "",
            "abc",
            "1.5d",
            "1h1d",
            " 5s",
            "1d -1s",
            "999999999h",
            "s",
            ".s",
            "1.2.3s",
            "5x",
            "d",
            "NaN",
            "inf",
            "-",
        ] {
            check(text, None);
        }
    }

    #[test]
    fn own_lengths_have_units() {
        let check = |text: &str, expect: Result<i64, &str>| {
            let actual = GoDuration::parse_with_unit(text).map(|length| length.ns / 1_000_000);
            assert_eq!(actual.map_err(|error| error.to_string()), expect.map_err(str::to_owned), "{text:?}");
        };
        let unreadable = Err("it is no length of time; write 30s, 5m, 1h30m or 7d");
        check("30s", Ok(30_000));
        check("1d", Ok(86_400_000));
        check("0", Ok(0));
        check("0s", Ok(0));
        check("30", Err("the unit is missing; write 30s for seconds, or 30ms, 30m, 30h, 30d"));
        check("2.5", Err("the unit is missing; write 2.5s for seconds, or 2.5ms, 2.5m, 2.5h"));
        check("+5", Err("the unit is missing; write 5s for seconds, or 5ms, 5m, 5h, 5d"));
        for text in ["-30s", "-1", "soon", "", "NaN", "30 s", "2w"] {
            check(text, unreadable);
        }
    }

    #[test]
    fn milliseconds_that_do_not_fit_are_refused() {
        assert_eq!(GoDuration::from_ms(1e300), None);
        assert_eq!(GoDuration::from_ms(f64::NAN), None);
        assert_eq!(GoDuration::from_ms(1500.5).unwrap().to_string(), "1.5005s");
    }

    proptest::proptest! {
        #[test]
        fn what_is_printed_can_be_read(ns: i64) {
            let duration = GoDuration { ns: ns.max(-i64::MAX) };
            proptest::prop_assert_eq!(GoDuration::parse(&duration.to_string()), Some(duration));
        }

        #[test]
        fn no_text_is_too_strange(text in "[-+0-9.dhmsnuµ e]{0,12}") {
            if let Some(duration) = GoDuration::parse(&text) {
                proptest::prop_assert_eq!(GoDuration::parse(&duration.to_string()), Some(duration));
            }
        }
    }
}
