//! A range of a run's windows, as `--window` names it.

use std::time::Duration;

use model::{GoDuration, LengthError};
use runfile::Reader;

use super::failed;
use crate::{Exit, Failure};

/// A part of a run such as `30s..2m`, counted from its first second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowRange {
    from: Duration,
    to: Option<Duration>,
}

impl WindowRange {
    /// Parses `FROM..TO`; either may be missing.
    ///
    /// # Errors
    /// The text has another form, or the end is not after the beginning.
    pub fn parse(text: &str) -> Result<WindowRange, Failure> {
        let fail = |why: &str| {
            let text =
                format!("failed to read --window {text:?}: {why}; write --window 30s..2m, 30s.. or ..2m");
            Failure::new(Exit::Other, text)
        };
        let (from, to) = text.split_once("..").ok_or_else(|| fail("it has no two dots"))?;
        let time = |part: &str| {
            let parsed = GoDuration::parse_with_unit(part).map(GoDuration::to_std);
            parsed.map_err(|error| match error {
                LengthError::NoUnit { .. } => fail(&format!("the unit of {part:?} is missing")),
                LengthError::Unreadable => fail(&format!("{part:?} is no time")),
            })
        };
        let from = if from.is_empty() { Duration::ZERO } else { time(from)? };
        let to = if to.is_empty() { None } else { Some(time(to)?) };
        if to.is_some_and(|to| to <= from) {
            return Err(fail("it ends before it begins"));
        }
        Ok(WindowRange { from, to })
    }

    /// Returns the windows of this part.
    ///
    /// # Errors
    /// The run has no windows there, or its file is damaged.
    pub fn range(&self, reader: &Reader) -> Result<std::ops::Range<u32>, Failure> {
        let range = reader
            .range_between(self.from, self.to.unwrap_or(Duration::MAX))
            .map_err(|error| failed(&error))?;
        if range.is_empty() {
            let all = reader.range().map_err(|error| failed(&error))?;
            let text = format!(
                "failed to find --window in the run: it has {} second{}; ask for a part of them",
                all.len(),
                if all.len() == 1 { "" } else { "s" }
            );
            return Err(Failure::new(Exit::Other, text));
        }
        Ok(range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: Option<(u64, Option<u64>)>) {
        let expect = expect.map(|(from, to)| WindowRange {
            from: Duration::from_secs(from),
            to: to.map(Duration::from_secs),
        });
        assert_eq!(WindowRange::parse(text).ok(), expect, "{text}");
    }

    #[test]
    fn parts_are_read() {
        check("30s..2m", Some((30, Some(120))));
        check("30s..", Some((30, None)));
        check("..1m30s", Some((0, Some(90))));
        check("..", Some((0, None)));
        check("2m..30s", None);
        check("30s..30s", None);
        check("30s", None);
        check("x..y", None);
        check("-5s..1s", None);
        check("0..30s", Some((0, Some(30))));
        check("30..120", None);
        check("30s..120", None);
    }
}
