//! Conversion between wall-clock times and text.

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Formats a time, nanoseconds since 1970, as RFC 3339 in UTC with milliseconds; empty for one that has no such form.
pub(crate) fn utc(wall_ns: i64) -> String {
    let ms = wall_ns.div_euclid(1_000_000);
    let moment = OffsetDateTime::from_unix_timestamp_nanos(i128::from(ms) * 1_000_000);
    moment.ok().and_then(|moment| moment.format(&Rfc3339).ok()).unwrap_or_default()
}

/// Parses a time in RFC 3339 to nanoseconds since 1970.
pub(crate) fn parse(text: &str) -> Option<i64> {
    let moment = OffsetDateTime::parse(text, &Rfc3339).ok()?;
    i64::try_from(moment.unix_timestamp_nanos()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_and_read() {
        let wall_ns = 1_769_486_191_701_000_000;
        assert_eq!(utc(wall_ns + 999_999), "2026-01-27T03:56:31.701Z");
        assert_eq!(parse("2026-01-27T03:56:31.701Z"), Some(wall_ns));
        assert_eq!(parse("2026-01-27T12:56:31.701+09:00"), Some(wall_ns));
        assert_eq!(parse("yesterday"), None);
    }
}
