//! Points in time as k6 writes them.

/// A wall-clock time, nanoseconds since the Unix epoch, as RFC 3339 in UTC; trailing zeros of the fraction are left out.
pub fn rfc3339(unix_ns: i64) -> String {
    let (seconds, nanos) = (unix_ns.div_euclid(1_000_000_000), unix_ns.rem_euclid(1_000_000_000));
    let (year, month, day) = civil(seconds.div_euclid(86_400));
    let second_of_day = seconds.rem_euclid(86_400);
    let (hour, minute, second) = (second_of_day / 3600, second_of_day / 60 % 60, second_of_day % 60);
    let fraction = format!(".{nanos:09}");
    let fraction = fraction.trim_end_matches('0').trim_end_matches('.');
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}Z")
}

/// The same for readers: whole milliseconds.
pub fn rfc3339_ms(unix_ns: i64) -> String {
    rfc3339(unix_ns.div_euclid(NS_PER_MS).saturating_mul(NS_PER_MS))
}

/// The same in whole seconds.
pub fn rfc3339_s(unix_ns: i64) -> String {
    rfc3339(unix_ns.div_euclid(1_000_000_000).saturating_mul(1_000_000_000))
}

const NS_PER_MS: i64 = 1_000_000;

/// Year, month and day of a day counted from 1970-01-01 in the Gregorian calendar.
///
/// Counts in years that begin in March, so that the leap day is a year's last (H. Hinnant, "chrono-Compatible Low-Level
/// Date Algorithms").
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_get_milliseconds_or_seconds() {
        let at = 1_795_253_649_521_582_913;
        assert_eq!(rfc3339_ms(at), "2026-11-21T09:34:09.521Z");
        assert_eq!(rfc3339_s(at), "2026-11-21T09:34:09Z");
        assert_eq!(rfc3339_s(-1), "1969-12-31T23:59:59Z");
    }

    #[test]
    fn times_are_written_as_k6_does() {
        for (unix_ns, expect) in [
            (0, "1970-01-01T00:00:00Z"),
            (1_795_253_649_521_582_913, "2026-11-21T09:34:09.521582913Z"),
            (1_795_253_650_721_969_530, "2026-11-21T09:34:10.72196953Z"),
            (951_782_400_000_000_000, "2000-02-29T00:00:00Z"),
            (951_868_799_999_999_999, "2000-02-29T23:59:59.999999999Z"),
            (-1, "1969-12-31T23:59:59.999999999Z"),
            (4_107_542_400_000_000_000, "2100-03-01T00:00:00Z"),
            (i64::MIN, "1677-09-21T00:12:43.145224192Z"),
        ] {
            assert_eq!(rfc3339(unix_ns), expect);
        }
    }
}
