//! Timestamps and durations as ProtoJSON writes them.

/// Seconds of year 1 and of year 9999 since 1970: the range of `google.protobuf.Timestamp`.
const TIMESTAMP_SECONDS: std::ops::RangeInclusive<i64> = -62_135_596_800..=253_402_300_799;

/// Ten thousand years: the range of `google.protobuf.Duration`.
const DURATION_SECONDS_MAX: i64 = 315_576_000_000;

const NANOS: i64 = 1_000_000_000;
const DAY_SECONDS: i64 = 86_400;

/// `1972-01-01T10:00:20.021Z`; `None` outside of the range.
pub(crate) fn write_timestamp(seconds: i64, nanos: i64) -> Option<String> {
    if !TIMESTAMP_SECONDS.contains(&seconds) || !(0..NANOS).contains(&nanos) {
        return None;
    }
    let (year, month, day) = date_of(seconds.div_euclid(DAY_SECONDS));
    let second = seconds.rem_euclid(DAY_SECONDS);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let fraction = fraction(nanos);
    Some(format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}Z"))
}

/// `1.5s`; `None` outside of the range.
pub(crate) fn write_duration(seconds: i64, nanos: i64) -> Option<String> {
    let is_mixed = (seconds > 0 && nanos < 0) || (seconds < 0 && nanos > 0);
    let (whole, part) = (seconds.checked_abs()?, nanos.checked_abs()?);
    if whole > DURATION_SECONDS_MAX || part >= NANOS || is_mixed {
        return None;
    }
    let sign = if seconds < 0 || nanos < 0 { "-" } else { "" };
    Some(format!("{sign}{whole}{}s", fraction(part)))
}

/// Nothing, or three, six or nine digits.
fn fraction(nanos: i64) -> String {
    match nanos {
        0 => String::new(),
        nanos if nanos % 1_000_000 == 0 => format!(".{:03}", nanos / 1_000_000),
        nanos if nanos % 1_000 == 0 => format!(".{:06}", nanos / 1_000),
        nanos => format!(".{nanos:09}"),
    }
}

/// Seconds and nanoseconds of an RFC 3339 time.
pub(crate) fn read_timestamp(text: &str) -> Option<(i64, i64)> {
    let (date, time) = text.split_at_checked(10)?;
    let date: Vec<i64> = date.split('-').map(number).collect::<Option<_>>()?;
    let &[year, month, day] = date.as_slice() else { return None };
    let time = time.strip_prefix('T')?;
    let (clock, rest) = time.split_at_checked(8)?;
    let clock: Vec<i64> = clock.split(':').map(number).collect::<Option<_>>()?;
    let &[hour, minute, second] = clock.as_slice() else { return None };
    let zone_at = rest.find(['Z', '+', '-'])?;
    let (fraction, zone) = rest.split_at(zone_at);
    let nanos = match fraction.strip_prefix('.') {
        Some(digits) => read_fraction(digits)?,
        None if fraction.is_empty() => 0,
        None => return None,
    };
    let is_valid = (1..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=days_of(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && second < 60;
    if !is_valid {
        return None;
    }
    let seconds = days_until(year, month, day) * DAY_SECONDS + hour * 3600 + minute * 60 + second;
    let seconds = seconds - read_zone(zone)?;
    TIMESTAMP_SECONDS.contains(&seconds).then_some((seconds, nanos))
}

/// Seconds east of Greenwich.
fn read_zone(zone: &str) -> Option<i64> {
    if zone == "Z" {
        return Some(0);
    }
    let (sign, offset) = zone.split_at_checked(1)?;
    let (hours, minutes) = offset.split_once(':')?;
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    if hours > 23 || minutes > 59 || offset.len() != 5 {
        return None;
    }
    let seconds = hours * 3600 + minutes * 60;
    Some(if sign == "-" { -seconds } else { seconds })
}

/// Seconds and nanoseconds of `-1.5s`.
pub(crate) fn read_duration(text: &str) -> Option<(i64, i64)> {
    let text = text.strip_suffix('s')?;
    let (is_negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let seconds = if whole.is_empty() { 0 } else { number(whole)? };
    let nanos = read_fraction(fraction)?;
    let sign = if is_negative { -1 } else { 1 };
    (seconds <= DURATION_SECONDS_MAX).then_some((sign * seconds, sign * nanos))
}

fn read_fraction(digits: &str) -> Option<i64> {
    if digits.len() > 9 {
        return None;
    }
    let scale = 10_i64.pow(9 - digits.len() as u32);
    Some(number(digits)? * scale)
}

/// Decimal digits and nothing else.
fn number(digits: &str) -> Option<i64> {
    let is_plain = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    if is_plain { digits.parse().ok() } else { None }
}

fn days_of(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1970 (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", `days_from_civil`).
fn days_until(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// The inverse (`civil_from_days`).
fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps() {
        let check = |text: &str, expect: Option<(i64, i64)>| {
            assert_eq!(read_timestamp(text), expect, "{text}");
        };
        check("1970-01-01T00:00:00Z", Some((0, 0)));
        check("1972-01-01T10:00:20.021Z", Some((63_108_020, 21_000_000)));
        check("2024-02-29T23:59:59.123456789+01:30", Some((1_709_245_799, 123_456_789)));
        check("0001-01-01T00:00:00Z", Some((-62_135_596_800, 0)));
        check("9999-12-31T23:59:59Z", Some((253_402_300_799, 0)));
        check("9999-12-31T23:59:59-00:01", None);
        check("2023-02-29T00:00:00Z", None);
        check("2023-01-01T24:00:00Z", None);
        check("2023-01-01 00:00:00Z", None);
        check("2023-01-01T00:00:00", None);
        check("2023-01-01T00:00:00.1234567890Z", None);
        check("", None);
        check("日本日本日本日本日本", None);
    }

    #[test]
    fn timestamps_round_trip() {
        for seconds in [-62_135_596_800, -1, 0, 951_782_400, 1_709_251_199, 253_402_300_799] {
            for nanos in [0, 1, 1_000, 1_000_000, 999_999_999] {
                let text = write_timestamp(seconds, nanos).unwrap();
                assert_eq!(read_timestamp(&text), Some((seconds, nanos)), "{text}");
            }
        }
        assert_eq!(write_timestamp(253_402_300_800, 0), None);
        assert_eq!(write_timestamp(0, -1), None);
    }

    #[test]
    fn durations() {
        let check = |text: &str, expect: Option<(i64, i64)>, again: &str| {
            assert_eq!(read_duration(text), expect, "{text}");
            if let Some((seconds, nanos)) = expect {
                assert_eq!(write_duration(seconds, nanos).as_deref(), Some(again));
            }
        };
        check("0s", Some((0, 0)), "0s");
        check("1.5s", Some((1, 500_000_000)), "1.500s");
        check("-0.000000001s", Some((0, -1)), "-0.000000001s");
        check("-3s", Some((-3, 0)), "-3s");
        check("315576000001s", None, "");
        check("1", None, "");
        check("1.5", None, "");
        check("--1s", None, "");
        check("1.1234567890s", None, "");
        assert_eq!(write_duration(1, -1), None);
        assert_eq!(write_duration(i64::MIN, 0), None);
    }
}
