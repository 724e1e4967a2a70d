//! Points in time as tables write them.

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Zones that one abbreviation names and no other, with their offsets from UTC in minutes. `IST`, `CST` and their like
/// are missing because several zones call themselves so.
const ZONES: &[(&str, i32)] = &[
    ("UTC", 0),
    ("GMT", 0),
    ("Z", 0),
    ("KST", 540),
    ("JST", 540),
    ("CET", 60),
    ("CEST", 120),
    ("EET", 120),
    ("EEST", 180),
    ("PST", -480),
    ("PDT", -420),
    ("EDT", -240),
];

/// Years that are believed: a run took place in our days, and seconds out of this range are milliseconds, or nonsense.
const YEARS: std::ops::Range<i32> = 2000..2200;

/// Seconds since 1970 of a cell: RFC 3339 with its offset, or such seconds already.
pub(super) fn parse(cell: &str) -> Option<f64> {
    let cell = cell.trim();
    if let Ok(moment) = OffsetDateTime::parse(&cell.replacen(' ', "T", 1), &Rfc3339) {
        return YEARS.contains(&moment.year()).then(|| unix_s(moment));
    }
    let seconds: f64 = cell.parse().ok()?;
    let moment =
        OffsetDateTime::from_unix_timestamp(seconds.is_finite().then(|| seconds.floor() as i64)?).ok()?;
    YEARS.contains(&moment.year()).then_some(seconds)
}

/// Seconds from 1970 to a local time without a zone, as a clock at UTC would show it.
pub(super) fn parse_local(cell: &str) -> Option<f64> {
    // A local time is an RFC 3339 time that lacks its end.
    let padded = match cell.trim().replacen(' ', "T", 1) {
        text if text.len() == 16 => format!("{text}:00Z"),
        text => format!("{text}Z"),
    };
    let moment = OffsetDateTime::parse(&padded, &Rfc3339).ok()?;
    YEARS.contains(&moment.year()).then(|| unix_s(moment))
}

/// The offset of a zone from UTC, in seconds: an abbreviation that is unambiguous, or `+09:00`.
pub(super) fn offset_s(zone: &str) -> Option<f64> {
    let zone = zone.trim();
    if let Some((_, minutes)) = ZONES.iter().find(|known| known.0.eq_ignore_ascii_case(zone)) {
        return Some(f64::from(*minutes) * 60.0);
    }
    let (sign, rest) = match zone.strip_prefix("UTC").unwrap_or(zone) {
        text if text.starts_with('+') => (1.0, &text[1..]),
        text if text.starts_with('-') => (-1.0, &text[1..]),
        _ => return None,
    };
    let (hours, minutes) = rest.split_once(':').unwrap_or((rest, "0"));
    let (hours, minutes): (u8, u8) = (hours.parse().ok()?, minutes.parse().ok()?);
    (hours <= 14 && minutes < 60).then(|| sign * (f64::from(hours) * 3600.0 + f64::from(minutes) * 60.0))
}

/// A point in time in UTC, to a tenth of a second.
pub(super) fn show(unix_s: f64) -> String {
    let tenths = (unix_s * 10.0).round() as i64;
    let moment = OffsetDateTime::from_unix_timestamp(tenths.div_euclid(10)).ok();
    let Some(text) = moment.and_then(|moment| moment.format(&Rfc3339).ok()) else {
        return format!("{unix_s} s");
    };
    let fraction = match tenths.rem_euclid(10) {
        0 => String::new(),
        tenth => format!(".{tenth}"),
    };
    format!("{} {}{fraction} UTC", &text[..10], text[11..].trim_end_matches('Z'))
}

fn unix_s(moment: OffsetDateTime) -> f64 {
    moment.unix_timestamp() as f64 + f64::from(moment.nanosecond()) / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_absolute() {
        for (cell, expect) in [
            ("2026-01-27T04:00:09.595Z", Some(1_769_486_409.595)),
            ("2026-01-27 13:00:09.595+09:00", Some(1_769_486_409.595)),
            ("1769486191.701171", Some(1_769_486_191.701171)),
            ("2026-01-27T04:00:09", None),
            ("04:00:09", None),
            ("1769486191701", None),
            ("NaN", None),
            ("9999-12-31T00:00:00Z", None),
            ("", None),
        ] {
            assert_eq!(parse(cell), expect, "{cell:?}");
        }
        assert_eq!(parse_local("2026-01-27 04:00"), Some(1_769_486_400.0));
        assert_eq!(parse_local("2026-01-27 04:00:01"), Some(1_769_486_401.0));
        assert_eq!(parse_local("yesterday"), None);
    }

    #[test]
    fn zones_have_one_meaning_or_none() {
        for (zone, expect) in [
            ("KST", Some(32_400.0)),
            ("utc", Some(0.0)),
            ("+05:30", Some(19_800.0)),
            ("UTC-3", Some(-10_800.0)),
            ("IST", None),
            ("+99", None),
            ("é+1", None),
        ] {
            assert_eq!(offset_s(zone), expect, "{zone:?}");
        }
    }

    #[test]
    fn moments_are_shown_in_utc() {
        assert_eq!(show(1_769_486_191.701171), "2026-01-27 03:56:31.7 UTC");
        assert_eq!(show(1_769_486_400.0), "2026-01-27 04:00:00 UTC");
        assert_eq!(show(f64::MAX), format!("{} s", f64::MAX));
    }
}
