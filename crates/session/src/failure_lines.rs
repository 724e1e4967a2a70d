//! A bound on the lines about failed requests: thousands of them would hide everything else.

use std::time::Duration;

use model::{Instant, LogLevel, LogLine};

/// Lines per second that are shown one by one. Their causes repeat: the summary and the page count all of them by cause.
const LINES_PER_SECOND: u32 = 10;

const SECOND: Duration = Duration::from_secs(1);

/// How the runner's lines about failed requests begin, as in k6.
const PREFIX: &str = "Request Failed: ";

/// The lines about failed requests of the current second.
#[derive(Debug, Default)]
pub(crate) struct FailureLines {
    /// When the second began; `None` before the first line.
    began: Option<Instant>,
    shown: u32,
    held: u64,
}

impl FailureLines {
    /// Whether a line is shown; one that is not is counted.
    pub(crate) fn admits(&mut self, line: &LogLine) -> bool {
        if line.level != LogLevel::Warn || !line.source.is_empty() || !line.message.starts_with(PREFIX) {
            return true;
        }
        if self.began.is_none_or(|began| line.at.since(began) >= SECOND) {
            self.began = Some(line.at);
            self.shown = 0;
        }
        let is_shown = self.shown < LINES_PER_SECOND;
        match is_shown {
            true => self.shown += 1,
            false => self.held += 1,
        }
        is_shown
    }

    /// The number of lines that were not shown, once their second or the run is over.
    pub(crate) fn take_held(&mut self, now: Instant, is_run_over: bool) -> Option<LogLine> {
        let is_over = is_run_over || self.began.is_none_or(|began| now.since(began) >= SECOND);
        if self.held == 0 || !is_over {
            return None;
        }
        let held = std::mem::take(&mut self.held);
        let text = format!("{held} more requests failed in this second (use --verbose to log each)");
        Some(LogLine::new(now, LogLevel::Warn, text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_ns(ms * 1_000_000)
    }

    fn failed(ms: u64) -> LogLine {
        LogLine::new(at(ms), LogLevel::Warn, "Request Failed: GET \"http://a/\": connection refused")
    }

    #[test]
    fn a_second_shows_some_and_counts_the_rest() {
        let mut lines = FailureLines::default();
        let shown = (0..500).filter(|ms| lines.admits(&failed(*ms))).count();
        assert_eq!(shown, 10);
        assert_eq!(lines.take_held(at(600), false), None, "the second is not over");
        let held = lines.take_held(at(1000), false).expect("490 lines");
        assert!(held.message.starts_with("490 more requests failed"), "{held:?}");
        assert_eq!(lines.take_held(at(1001), true), None, "they are counted once");
        assert!(lines.admits(&failed(1002)), "the next second shows lines again");
        (0..20).for_each(|ms| _ = lines.admits(&failed(1003 + ms)));
        assert!(lines.take_held(at(1100), true).is_some_and(|line| line.message.starts_with("11 more")));
    }

    #[test]
    fn other_lines_are_always_shown() {
        let mut lines = FailureLines::default();
        (0..20).for_each(|ms| _ = lines.admits(&failed(ms)));
        let mut console = failed(30);
        console.source = "console";
        assert!(lines.admits(&console), "a script's own line");
        assert!(lines.admits(&LogLine::new(at(30), LogLevel::Warn, "another warning")));
        assert!(!lines.admits(&failed(30)));
    }
}
