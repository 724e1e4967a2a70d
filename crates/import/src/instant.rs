//! Points in time as other tools write them, in nanoseconds since the Unix epoch.

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Nanoseconds since the Unix epoch of an RFC 3339 time with any offset; `None` for the rest, and for what is outside of 1677
/// to 2262.
pub fn rfc3339(text: &str) -> Option<i64> {
    let at = OffsetDateTime::parse(text, &Rfc3339).ok()?;
    i64::try_from(at.unix_timestamp_nanos()).ok()
}

/// `2013-02-22 14:07:42` without a zone, read as UTC.
pub(crate) fn zoneless(text: &str) -> Option<i64> {
    let (day, clock) = text.trim().split_once(' ')?;
    rfc3339(&format!("{day}T{}Z", clock.trim().replace(',', ".")))
}

/// Parses RFC 3339, or a whole number of seconds, milliseconds, microseconds or nanoseconds, distinguished by size: the four that
/// k6's CSV can have.
pub(crate) fn rfc3339_or_unix(text: &str) -> Option<i64> {
    let Ok(number) = text.parse::<i64>() else { return rfc3339(text) };
    // Each unit from 2001 to 2286, where its numbers have ten digits more or less than its neighbour's.
    let scale = match number {
        0..10_000_000_000 => 1_000_000_000,
        10_000_000_000..10_000_000_000_000 => 1_000_000,
        10_000_000_000_000..10_000_000_000_000_000 => 1_000,
        10_000_000_000_000_000.. => 1,
        _ => return None,
    };
    number.checked_mul(scale)
}

/// Whether a text of [`rfc3339_or_unix`] has a resolution of whole seconds.
pub(crate) fn is_whole_seconds(text: &str) -> bool {
    text.parse::<i64>().is_ok_and(|number| number < 10_000_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: Option<i64>) {
        assert_eq!(rfc3339_or_unix(text), expect, "{text}");
    }

    #[test]
    fn instants_are_read() {
        const NS: i64 = 1_795_287_946_224_639_167;
        check("2026-11-21T19:05:46.224639167Z", Some(NS));
        check("2026-11-22T04:05:46.224639167+09:00", Some(NS));
        check("1795287946", Some(NS / 1_000_000_000 * 1_000_000_000));
        check("1795287946224", Some(NS / 1_000_000 * 1_000_000));
        check("1795287946224639", Some(NS / 1_000 * 1_000));
        check("1795287946224639167", Some(NS));
        check("-5", None);
        check("99999-01-01T00:00:00Z", None);
        check("0001-01-01T00:00:00Z", None);
        check("yesterday", None);
        check("", None);
    }

    #[test]
    fn a_time_without_a_zone_is_utc() {
        assert_eq!(zoneless("2026-11-21 19:05:46"), Some(1_795_287_946_000_000_000));
        assert_eq!(zoneless("2026-11-21 19:05:46,250"), Some(1_795_287_946_250_000_000));
        assert_eq!(zoneless("2026-13-21 19:05:46"), None);
    }
}
