//! Which runs a clean-up would delete.

use std::time::Duration;

use crate::Entry;

/// Limits on the runs that are kept. Every limit that is set must hold; the oldest runs beyond one are removed first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// The greatest age.
    pub age_max: Option<Duration>,
    /// The greatest number of runs; the newest stay.
    pub runs_max: Option<usize>,
    /// The greatest size of all runs together; the newest stay.
    pub bytes_max: Option<u64>,
}

/// The runs that break the policy, oldest first. `entries` are in order of their start.
pub fn doomed(entries: &[Entry], policy: &Policy, now_unix_s: i64) -> Vec<Entry> {
    let (mut runs, mut bytes) = (0, 0_u64);
    let mut doomed = Vec::new();
    for entry in entries.iter().rev() {
        let age_s = now_unix_s.saturating_sub(entry.name.started_unix_s());
        let is_old =
            policy.age_max.is_some_and(|most| age_s > i64::try_from(most.as_secs()).unwrap_or(i64::MAX));
        let is_many = policy.runs_max.is_some_and(|most| runs >= most);
        let is_much = policy.bytes_max.is_some_and(|most| bytes.saturating_add(entry.bytes) > most);
        if is_old || is_many || is_much {
            doomed.push(entry.clone());
        } else {
            runs += 1;
            bytes += entry.bytes;
        }
    }
    doomed.reverse();
    doomed
}

/// `2GB`, `500MB`, `1GiB`, `4096B`: a size in bytes. A number alone is none, since few people mean bytes by it.
pub fn parse_size(text: &str) -> Option<u64> {
    const UNITS: &[(&str, u64)] = &[
        ("B", 1),
        ("KB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("TB", 1_000_000_000_000),
        ("KIB", 1 << 10),
        ("MIB", 1 << 20),
        ("GIB", 1 << 30),
        ("TIB", 1 << 40),
    ];
    let digits = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = (text[..digits].parse::<u64>().ok()?, text[digits..].trim().to_ascii_uppercase());
    let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit)?;
    number.checked_mul(*factor)
}

/// The wall clock's second from which on runs count: `2026-11-21`, `2026-11-21T12:42:49Z`, or a span before now.
///
/// # Errors
/// The text is neither, and the span's parser says why.
pub fn parse_since<E>(
    text: &str,
    now_unix_s: i64,
    parse_span: impl Fn(&str) -> Result<Duration, E>,
) -> Result<i64, E> {
    if let Some(second) = crate::file_name::parse_day_or_time(text) {
        return Ok(second);
    }
    let span_s = i64::try_from(parse_span(text)?.as_secs()).unwrap_or(i64::MAX);
    Ok(now_unix_s.saturating_sub(span_s))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FileName, RunId};

    /// Runs of one byte each, started one second after the other from second 0; gives the seconds of the doomed.
    #[track_caller]
    fn check(policy: Policy, expect: &[i64]) {
        let id = || RunId::parse("00000000").expect("an id");
        let entries: Vec<Entry> = (0..5)
            .map(|s| Entry {
                name: FileName::new(s * 1_000_000_000, id()),
                bytes: 1,
                modified_unix_ns: 0,
                version: String::new(),
            })
            .collect();
        let actual: Vec<i64> =
            doomed(&entries, &policy, 10).iter().map(|entry| entry.name.started_unix_s()).collect();
        assert_eq!(actual, expect, "{policy:?}");
    }

    #[test]
    fn the_oldest_go_first() {
        check(Policy::default(), &[]);
        check(Policy { age_max: Some(Duration::from_secs(7)), ..Policy::default() }, &[0, 1, 2]);
        check(Policy { runs_max: Some(2), ..Policy::default() }, &[0, 1, 2]);
        check(Policy { bytes_max: Some(4), ..Policy::default() }, &[0]);
        check(Policy { runs_max: Some(9), bytes_max: Some(0), ..Policy::default() }, &[0, 1, 2, 3, 4]);
        check(Policy { age_max: Some(Duration::MAX), ..Policy::default() }, &[]);
    }

    #[test]
    fn sizes_are_read() {
        for (text, expect) in [
            ("2GB", Some(2_000_000_000)),
            ("1 GiB", Some(1 << 30)),
            ("7B", Some(7)),
            ("7", None),
            ("500mb", Some(500_000_000)),
            ("GB", None),
            ("2XB", None),
            ("99999999999TB", None),
            ("-1", None),
        ] {
            assert_eq!(parse_size(text), expect, "{text}");
        }
    }

    #[test]
    fn since_is_a_time_or_a_span() {
        let hours = |text: &str| {
            let hours = text.strip_suffix('h').and_then(|hours| hours.parse::<u64>().ok());
            hours.map(|hours| Duration::from_secs(hours * 3600)).ok_or(())
        };
        assert_eq!(parse_since("2h", 10_000, hours), Ok(2_800));
        assert_eq!(parse_since("1970-01-02", 10_000, hours), Ok(86_400));
        assert_eq!(parse_since("soon", 10_000, hours), Err(()));
    }
}
