//! `20261121T124249.123Z-ab12cd34.plimsoll`: when a run started, and its id.

use std::fmt;

/// How the names of run files end.
pub const SUFFIX: &str = ".plimsoll";

/// Hexadecimal digits that an id has at least, and the most that others give theirs.
const ID_DIGITS: std::ops::RangeInclusive<usize> = 8..=16;

/// The id of a run: eight random hexadecimal digits. A merged run has sixteen, derived from the ids of its
/// parts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(String);

impl RunId {
    /// A new one. Where the system has no random numbers to give, `instead` is spread over the digits.
    pub fn random(instead: u64) -> RunId {
        let drawn = getrandom::u32().unwrap_or((instead ^ (instead >> 32)) as u32);
        RunId(format!("{drawn:08x}"))
    }

    /// An id as it is written in a file's name.
    pub fn parse(text: &str) -> Option<RunId> {
        let is_id = ID_DIGITS.contains(&text.len()) && text.bytes().all(is_digit);
        is_id.then(|| RunId(text.to_owned()))
    }

    /// Its digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.0)
    }
}

/// Whether this could be the beginning of an id.
pub(crate) fn could_begin_an_id(text: &str) -> bool {
    (1..=*ID_DIGITS.end()).contains(&text.len())
        && text.bytes().all(|byte| is_digit(byte.to_ascii_lowercase()))
}

fn is_digit(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

/// The name of a run's file. Names sort by start, since the time comes first and has a fixed width.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileName {
    /// When the run started, in milliseconds since the Unix epoch: runs of one second have an order too.
    pub started_unix_ms: i64,
    /// Its id.
    pub id: RunId,
}

impl FileName {
    /// The name of a run that started at this time, in nanoseconds since the Unix epoch.
    pub fn new(started_unix_ns: i64, id: RunId) -> FileName {
        FileName { started_unix_ms: started_unix_ns.div_euclid(1_000_000), id }
    }

    /// Reads a name; `None` for files that are none of ours.
    pub fn parse(name: &str) -> Option<FileName> {
        let (started, id) = name.strip_suffix(SUFFIX)?.split_once('-')?;
        let (seconds, fraction) = started.strip_suffix('Z')?.split_once('.')?;
        let is_fraction = fraction.len() == 3 && fraction.bytes().all(|byte| byte.is_ascii_digit());
        let ms: i64 = fraction.parse().ok().filter(|_| is_fraction)?;
        Some(FileName { started_unix_ms: parse_time(seconds)? * 1_000 + ms, id: RunId::parse(id)? })
    }

    /// When the run started, in seconds since the Unix epoch.
    pub fn started_unix_s(&self) -> i64 {
        self.started_unix_ms.div_euclid(1_000)
    }
}

impl fmt::Display for FileName {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A clock beyond the years that can be written is as wrong as one at zero.
        let at = time::OffsetDateTime::from_unix_timestamp(self.started_unix_s())
            .unwrap_or(time::OffsetDateTime::UNIX_EPOCH);
        let (year, month, day) = at.to_calendar_date();
        let (hour, minute, second) = at.to_hms();
        let (month, ms) = (u8::from(month), self.started_unix_ms.rem_euclid(1_000));
        write!(to, "{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}.{ms:03}Z-{}{SUFFIX}", self.id)
    }
}

/// `20261121T124249` in seconds since the Unix epoch, UTC.
fn parse_time(digits: &str) -> Option<i64> {
    let is_well_formed = digits.len() == 15
        && digits.bytes().enumerate().all(|(at, byte)| match at {
            8 => byte == b'T',
            _ => byte.is_ascii_digit(),
        });
    if !is_well_formed {
        return None;
    }
    let number = |range: std::ops::Range<usize>| digits[range].parse::<u16>().ok();
    let small = |range| number(range).and_then(|number| u8::try_from(number).ok());
    let month = time::Month::try_from(small(4..6)?).ok()?;
    let date = time::Date::from_calendar_date(i32::from(number(0..4)?), month, small(6..8)?).ok()?;
    let clock = time::Time::from_hms(small(9..11)?, small(11..13)?, small(13..15)?).ok()?;
    Some(time::PrimitiveDateTime::new(date, clock).assume_utc().unix_timestamp())
}

/// `2026-11-21` or `2026-11-21T12:42:49Z` in seconds since the Unix epoch, UTC.
pub(crate) fn parse_day_or_time(text: &str) -> Option<i64> {
    let compact: String = text.chars().filter(|letter| !matches!(letter, '-' | ':')).collect();
    if compact.len() == 8 {
        parse_time(&format!("{compact}T000000"))
    } else {
        parse_time(compact.strip_suffix('Z')?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, expect: Option<(i64, &str)>) {
        let actual = FileName::parse(name);
        assert_eq!(actual.as_ref().map(|it| (it.started_unix_ms, it.id.as_str())), expect, "{name}");
        if let Some(actual) = actual {
            assert_eq!(actual.to_string(), name);
        }
    }

    #[test]
    fn names_are_read_as_they_are_written() {
        check("20261121T124249.123Z-ab12cd34.plimsoll", Some((1_795_264_969_123, "ab12cd34")));
        check("19700101T000000.000Z-00000000.plimsoll", Some((0, "00000000")));
        check(
            "20261121T124249.123Z-ab12cd34ab12cd34.plimsoll",
            Some((1_795_264_969_123, "ab12cd34ab12cd34")),
        );
        check("20260229T000000.000Z-00000000.plimsoll", None);
        check("20261121T124249.123Z-AB12CD34.plimsoll", None);
        check("20261121T124249.123Z-ab12cd3.plimsoll", None);
        check("20261121T124249.123-ab12cd34.plimsoll", None);
        check("20261121T124249.123Z-ab12cd34.plimsoll-wal", None);
        check("2026112é124249.123Z-ab12cd34.plimsoll", None);
        check("20261121T124249Z-ab12cd34.plimsoll", None);
        check("20261121T124249.+12Z-ab12cd34.plimsoll", None);
        check("notes.txt", None);
    }

    #[test]
    fn names_sort_by_start() {
        let name = |started: i64, id: &str| {
            FileName::new(started * 1_000_000_000, RunId::parse(id).expect("an id")).to_string()
        };
        let mut names =
            [name(1_800_000_000, "00000000"), name(1_700_000_000, "ffffffff"), name(5, "00000001")];
        names.sort();
        assert_eq!(
            names,
            [name(5, "00000001"), name(1_700_000_000, "ffffffff"), name(1_800_000_000, "00000000")]
        );
    }

    #[test]
    fn ids_are_drawn_anew() {
        let drawn: std::collections::BTreeSet<_> = (0..64).map(RunId::random).collect();
        assert!(drawn.len() > 60, "64 draws of 32 bits hardly ever meet: {drawn:?}");
        assert!(drawn.iter().all(|id| RunId::parse(id.as_str()).as_ref() == Some(id)));
    }

    #[test]
    fn days_and_times_are_read() {
        assert_eq!(parse_day_or_time("2026-11-21"), Some(1_795_219_200));
        assert_eq!(parse_day_or_time("2026-11-21T12:42:49Z"), Some(1_795_264_969));
        assert_eq!(parse_day_or_time("yesterday"), None);
    }
}
