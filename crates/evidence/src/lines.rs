//! Parses a server's log lines: task durations by kind, and errors.

use std::collections::BTreeMap;

use histo::Values;
use model::{Instant, Record, RecordKind};
use regex::{Captures, Regex};

use crate::settings::{Settings, SettingsError};

/// Maximum number of task kinds; durations of further ones are only counted.
const TASKS_MAX: usize = 200;
/// Maximum number of error lines; further ones are only counted.
const ERRORS_MAX: usize = 200;
/// Maximum length of a line, characters.
const LINE_CHARS_MAX: usize = 500;
/// Maximum length of a task's name, characters.
const TASK_CHARS_MAX: usize = 120;

/// Default pattern of error lines: the level as most loggers write it, or the beginning of a stack trace.
const ERROR: &str = r#"\b(ERROR|FATAL|CRITICAL|PANIC|SEVERE)\b|^panic:|\bTraceback \(most recent|"?\blevel"?[=:] ?"?(error|fatal|critical)\b"#;

/// A parser of log lines.
#[derive(Debug)]
pub(crate) struct Lines {
    pattern: Option<Regex>,
    error: Regex,
    unit_ms: f64,
    tasks: BTreeMap<String, Values>,
    tasks_dropped: u64,
    errors: Vec<Record>,
    errors_kept: usize,
    errors_dropped: u64,
}

impl Lines {
    /// Returns a parser for the settings `pattern`, `unit` and `error`.
    ///
    /// # Errors
    /// A setting is invalid.
    pub(crate) fn new(settings: &Settings) -> Result<Lines, SettingsError> {
        let regex = |setting: &str, text: &str| {
            Regex::new(text)
                .map_err(|error| settings.wrong(setting, &format!("not a regular expression: {error}")))
        };
        let pattern = settings.values.get("pattern").map(|text| regex("pattern", text)).transpose()?;
        let has = |name: &str| {
            pattern
                .as_ref()
                .is_none_or(|pattern| pattern.capture_names().flatten().any(|known| known == name))
        };
        if !has("task") || !has("duration") {
            let why = r"the groups (?<task>…) and (?<duration>…) are missing; for example (?<task>\S+) took (?<duration>[\d.]+)s";
            return Err(settings.wrong("pattern", why));
        }
        let unit_ms = match settings.text("unit", "s").as_str() {
            "ns" => 1e-6,
            "us" | "µs" => 1e-3,
            "ms" => 1.0,
            "s" => 1e3,
            "m" => 60e3,
            _ => return Err(settings.wrong("unit", "expected ns, us, ms, s or m")),
        };
        Ok(Lines {
            pattern,
            error: regex("error", &settings.text("error", ERROR))?,
            unit_ms,
            tasks: BTreeMap::new(),
            tasks_dropped: 0,
            errors: Vec::new(),
            errors_kept: 0,
            errors_dropped: 0,
        })
    }

    /// Parses a line of `source` with this time and `subject`; returns true if it reports an error.
    pub(crate) fn look(&mut self, source: &str, subject: &str, at: Instant, line: &str) -> bool {
        let found = self.pattern.as_ref().and_then(|pattern| pattern.captures(line));
        if let Some((task, duration_ms)) = found.and_then(|found| self.task(&found)) {
            self.count(task, duration_ms);
        }
        let is_error = self.error.is_match(line);
        if is_error && self.errors_kept < ERRORS_MAX {
            self.errors_kept += 1;
            self.errors.push(Record {
                source: source.to_owned(),
                kind: RecordKind::Line,
                at,
                subject: subject.to_owned(),
                fields: BTreeMap::from([("text".to_owned(), harmless(line, LINE_CHARS_MAX).into())]),
            });
        } else if is_error {
            self.errors_dropped += 1;
        }
        is_error
    }

    fn task(&self, found: &Captures) -> Option<(String, f64)> {
        let task = found.name("task")?.as_str();
        let duration_ms = found.name("duration")?.as_str().parse::<f64>().ok()? * self.unit_ms;
        let is_one = !task.is_empty() && duration_ms.is_finite() && duration_ms >= 0.0;
        is_one.then(|| (harmless(task, TASK_CHARS_MAX), duration_ms))
    }

    fn count(&mut self, task: String, duration_ms: f64) {
        if !self.tasks.contains_key(&task) && self.tasks.len() >= TASKS_MAX {
            self.tasks_dropped += 1;
            return;
        }
        self.tasks.entry(task).or_default().record(duration_ms);
    }

    /// Returns the errors since the last call.
    pub(crate) fn take_errors(&mut self) -> Vec<Record> {
        std::mem::take(&mut self.errors)
    }

    /// Returns the tasks of the whole run, and the number of durations left out.
    pub(crate) fn take_tasks(&mut self, source: &str, at: Instant) -> Vec<Record> {
        let record = |kind, subject: &str, fields: Vec<(&str, Option<f64>)>| Record {
            source: source.to_owned(),
            kind,
            at,
            subject: subject.to_owned(),
            fields: fields
                .into_iter()
                .filter_map(|(name, value)| Some((name.to_owned(), value?.into())))
                .collect(),
        };
        let mut records: Vec<Record> = std::mem::take(&mut self.tasks)
            .iter()
            .map(|(task, durations)| {
                let fields = vec![
                    ("count", Some(durations.count() as f64)),
                    ("min_ms", durations.min()),
                    ("avg_ms", durations.mean()),
                    ("p95_ms", durations.quantile(0.95)),
                    ("max_ms", durations.max()),
                ];
                record(RecordKind::Task, task, fields)
            })
            .collect();
        let mut left_out = |subject: &str, count: u64, limit: usize| {
            if count > 0 {
                let fields = vec![("lines", Some(count as f64)), ("limit", Some(limit as f64))];
                records.push(record(RecordKind::Warning, subject, fields));
            }
        };
        left_out("too many kinds of tasks: some are not counted", self.tasks_dropped, TASKS_MAX);
        left_out("too many error lines: some are counted but not stored", self.errors_dropped, ERRORS_MAX);
        records
    }
}

/// Returns a server's text, safe to print: truncated and without control characters.
pub(crate) fn harmless(text: &str, chars_max: usize) -> String {
    let plain = |char: char| if char.is_control() { ' ' } else { char };
    text.trim_end().chars().take(chars_max).map(plain).collect()
}

/// Returns a record's share in the format of a log line.
#[cfg(test)]
pub(crate) fn shown(record: &Record) -> String {
    let datum = |datum: &model::Datum| match datum {
        model::Datum::Number(number) => format!("{number}"),
        model::Datum::Text(text) => text.clone(),
    };
    let fields: Vec<String> =
        record.fields.iter().map(|(name, value)| format!("{name}={}", datum(value))).collect();
    format!("{} {}: {}", record.kind.as_str(), record.subject, fields.join(" "))
}

#[cfg(test)]
mod tests {
    use model::Datum;

    use super::*;

    fn lines(values: &[(&str, &str)]) -> Result<Lines, SettingsError> {
        let values = values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Lines::new(&Settings { name: "worker".to_owned(), values, ..Settings::default() })
    }

    const CELERY: &str = r"Task (?<task>[\w.]+)\[[^\]]+\] succeeded in (?<duration>[\d.]+)s";

    #[test]
    fn tasks_are_added_up_by_their_names() {
        let mut lines = lines(&[("pattern", CELERY)]).expect("a pattern");
        for seconds in 1..=20 {
            let line = format!(
                "[2026-01-27 03:57:01] Task scan.vision[0a-{seconds}] succeeded in {seconds}.5s: None"
            );
            assert!(!lines.look("worker", "a.log", Instant::ZERO, &line));
        }
        lines.look("worker", "a.log", Instant::ZERO, "Task scan.rule[1] succeeded in 0.04s: None");
        lines.look("worker", "a.log", Instant::ZERO, "Task scan.rule[1] succeeded in 0.0.4s: None");
        let evidence: Vec<String> = lines.take_tasks("worker", Instant::ZERO).iter().map(shown).collect();
        assert_eq!(evidence[0], "task scan.rule: avg_ms=40 count=1 max_ms=40 min_ms=40 p95_ms=40");
        assert!(
            evidence[1]
                .starts_with("task scan.vision: avg_ms=11000 count=20 max_ms=20500 min_ms=1500 p95_ms=19"),
            "{}",
            evidence[1]
        );
        assert_eq!(evidence.len(), 2);
    }

    #[test]
    fn errors_are_kept_and_harmless() {
        let mut lines = lines(&[]).expect("settings that are right");
        let mut look = |line: &str| lines.look("worker", "a.log", Instant::ZERO, line);
        assert!(
            look("2026 ERROR \u{1b}[31mred\u{1b}[0m\r\n")
                && look("{\"level\":\"error\"}")
                && look("level=fatal x")
        );
        assert!(!look("no errors, 0 ERRORS") && !look("level=info msg=\"error-free\""));
        let evidence: Vec<String> = lines.take_errors().iter().map(shown).collect();
        assert_eq!(evidence[0], "line a.log: text=2026 ERROR  [31mred [0m");
        assert_eq!(evidence.len(), 3);
    }

    #[test]
    fn everything_is_bounded_and_counted() {
        let values = [("pattern", r"(?<task>\S+) (?<duration>\S+)"), ("unit", "ms")];
        let mut lines = lines(&values).expect("a pattern");
        for number in 0..TASKS_MAX + 7 {
            lines.look(
                "worker",
                "a.log",
                Instant::ZERO,
                &format!("t{number} 1500 ERROR {}", "x".repeat(9_999)),
            );
        }
        assert!(lines.take_errors().iter().all(|record| shown(record).len() < 600));
        let evidence = lines.take_tasks("worker", Instant::ZERO);
        assert_eq!(evidence.len(), TASKS_MAX + 2);
        assert_eq!(evidence[0].fields["max_ms"], Datum::from(1500.0));
        assert_eq!(evidence[TASKS_MAX].fields["lines"], Datum::from(7.0));
    }

    #[test]
    fn settings_that_are_wrong_are_named() {
        let check = |name, value, expect: &str| {
            let error = lines(&[(name, value)]).err().map(|error| error.to_string());
            assert!(error.as_ref().is_some_and(|error| error.contains(expect)), "{error:?}");
        };
        check("pattern", "(?<task>", "not a regular expression");
        check("pattern", "(?<task>x)", "are missing");
        check("unit", "hours", "expected ns");
        check("error", "(", "not a regular expression");
    }
}
