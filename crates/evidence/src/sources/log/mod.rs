//! Log files of servers on this machine, followed during a run.

mod follow;

use std::collections::BTreeMap;
use std::time::Duration;

use model::{Evidence, Instant, Record, RecordKind, Signal, SignalId};

use super::Kind;
use crate::contract::{About, Check, Moment, Period, Source, SourceError};
use crate::gathered::Gathered;
use crate::lines::Lines;
use crate::settings::{Settings, SettingsError};
use follow::{FILES_MAX, Follow};

/// This kind of source.
pub(super) const KIND: Kind = Kind {
    name: "log",
    provides: "Log files on this machine: lines and errors per second, and task durations by a pattern.",
    example: "worker.log",
    settings: &[
        ("pattern", r"regular expression with the groups (?<task>…) and (?<duration>…)"),
        ("unit", "unit of durations: ns, us, ms, s or m [default: s]"),
        ("error", "regular expression for lines that report an error"),
        ("step", "interval between reads [default: 1s]"),
    ],
    open,
};

/// Default and minimum interval between reads.
const STEP: Duration = Duration::from_secs(1);
const STEP_MIN: Duration = Duration::from_millis(50);

struct Log {
    about: About,
    step: Duration,
    follow: Follow,
    lines: Lines,
    gathered: Gathered,
    last_at: Option<Instant>,
}

fn open(settings: &Settings) -> Result<Box<dyn Source>, SettingsError> {
    if settings.address.is_empty() {
        return Err(settings.wrong("address", "expected a path, for example worker.log or logs/*.log"));
    }
    let step = settings.duration("step", STEP)?;
    if step < STEP_MIN {
        return Err(settings.wrong("step", "the minimum is 50ms"));
    }
    Ok(Box::new(Log {
        about: About { name: settings.name.clone(), kind: KIND.name, address: settings.address.clone() },
        step,
        follow: Follow::new(&settings.address),
        lines: Lines::new(settings)?,
        // Lines and errors of each file, and of its successors after rotation.
        gathered: Gathered::new(FILES_MAX * 4),
        last_at: None,
    }))
}

impl Source for Log {
    fn about(&self) -> About {
        self.about.clone()
    }

    fn probe(&mut self) -> Vec<Check> {
        // A separate reader, so that following begins with the run.
        let mut follow = Follow::new(&self.about.address);
        let now = Instant::ZERO;
        vec![match follow.lines(now, |_, _| ()) {
            Ok(()) => Check::works("files", follow.paths().join(", ")),
            Err(why) => {
                let remedy = "set address to the path of a log file on this machine that plimsoll can read";
                Check::fails("files", why, remedy)
            }
        }]
    }

    fn period(&self) -> Option<Duration> {
        Some(self.step)
    }

    fn sample(&mut self, now: Moment) -> Result<Evidence, SourceError> {
        self.look(now.at).map_err(SourceError::new)?;
        Ok(Evidence {
            signals: self.gathered.take_due(now.at),
            records: self.lines.take_errors(),
            ..Evidence::default()
        })
    }

    /// Lines written since the last read belong to the run as well.
    fn look_back(&mut self, period: &Period) -> Result<Evidence, SourceError> {
        if self.last_at.is_none() {
            return Err(SourceError::new("log files can only be read during a run"));
        }
        // The files may be deleted by now; their earlier lines are kept.
        let looked = self.look(period.to.at);
        let mut records = self.lines.take_errors();
        records.extend(self.lines.take_tasks(&self.about.name, period.to.at));
        records.extend(self.left_out(period.to.at, looked.err()));
        Ok(Evidence { signals: self.gathered.take(), records, ..Evidence::default() })
    }
}

impl Log {
    fn look(&mut self, now: Instant) -> Result<(), String> {
        let mut counts: BTreeMap<String, [u64; 2]> = BTreeMap::new();
        let (lines, name) = (&mut self.lines, &self.about.name);
        let followed = self.follow.lines(now, |path, line| {
            let is_error = lines.look(name, path, now, line);
            let [all, errors] = counts.entry(path.to_owned()).or_default();
            *all += 1;
            *errors += u64::from(is_error);
        });
        // The last lines of a removed file are known; nothing is known afterwards.
        if followed.is_err() && counts.is_empty() {
            self.last_at = self.last_at.map(|_| now);
            return followed;
        }
        let last_at = self.last_at.replace(now);
        let elapsed_s = last_at.map_or(0.0, |last| now.since(last).as_secs_f64());
        if elapsed_s <= 0.0 {
            return Ok(());
        }
        for path in self.follow.paths() {
            let counts = counts.get(path).copied().unwrap_or_default();
            for (signal, count) in [SignalId::LogLines, SignalId::LogErrors].into_iter().zip(counts) {
                self.gathered.add(Signal {
                    source: self.about.name.clone(),
                    name: signal.into(),
                    labels: BTreeMap::from([("file".to_owned(), path.to_owned())]),
                    unit: signal.unit().to_owned(),
                    query: path.to_owned(),
                    step: self.step,
                    points: vec![(now, count as f64 / elapsed_s)],
                });
            }
        }
        Ok(())
    }

    fn left_out(&self, at: Instant, trouble: Option<String>) -> Option<Record> {
        let counts = [
            ("bytes_skipped", self.follow.bytes_skipped as f64),
            ("files_beyond_limit", self.follow.files_dropped as f64),
        ];
        let counts = counts.into_iter().filter(|(_, count)| *count > 0.0);
        let mut fields: BTreeMap<_, _> =
            counts.map(|(name, count)| (name.to_owned(), count.into())).collect();
        fields.extend(trouble.map(|why| ("why".to_owned(), why.into())));
        let subject = "log lines are incomplete".to_owned();
        let source = self.about.name.clone();
        (!fields.is_empty()).then_some(Record { source, kind: RecordKind::Warning, at, subject, fields })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::contract::promises;
    use crate::lines::shown;

    fn source(address: &str) -> Box<dyn Source> {
        let pattern = r"(?<task>\S+) took (?<duration>[\d.]+)ms";
        let values = [("pattern", pattern), ("unit", "ms"), ("step", "200ms")];
        let settings = Settings {
            name: "worker".to_owned(),
            kind: "log".to_owned(),
            address: address.to_owned(),
            values: values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            ..Settings::default()
        };
        crate::sources::open(&settings).expect("settings that are right")
    }

    #[test]
    fn promises_are_kept_while_somebody_writes() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("worker.log");
        let mut file = std::fs::File::create(&path).expect("a file");
        let is_over = Arc::new(AtomicBool::new(false));
        let until = is_over.clone();
        let writer = std::thread::spawn(move || {
            while !until.load(Ordering::Relaxed) {
                file.write_all(b"scan.rule took 40ms\nERROR out of ink\n").expect("it can be written");
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        let evidence = promises::of_a_source(source(&path.display().to_string()).as_mut(), None);
        is_over.store(true, Ordering::Relaxed);
        writer.join().expect("it only writes");
        let lines = evidence.signals.iter().find(|signal| signal.name == "log_lines").expect("lines");
        assert!(lines.points.iter().any(|(_, per_s)| *per_s > 20.0), "{lines:?}");
        let shown: Vec<String> = evidence.records.iter().map(shown).collect();
        assert!(shown.iter().any(|record| record.ends_with("text=ERROR out of ink")), "{shown:?}");
        let task = shown.last().expect("a task");
        assert!(
            task.starts_with("task scan.rule: avg_ms=40 count=") && task.ends_with("p95_ms=40"),
            "{task}"
        );
    }

    #[test]
    fn a_file_that_is_removed_is_told_and_what_was_in_it_is_not_lost() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("worker.log");
        let mut file = std::fs::File::create(&path).expect("a file");
        let mut source = source(&path.display().to_string());
        let moment = |ms: u64| Moment { at: Instant::from_ns(ms * 1_000_000), wall_ns: 0 };
        source.sample(moment(1_000)).expect("it is there");
        file.write_all(b"scan.rule took 40ms\n").expect("it can be written");
        std::fs::remove_file(&path).expect("it is there");
        source.sample(moment(1_200)).expect("its last line is read");
        let trouble = source.sample(moment(1_400)).expect_err("it is gone");
        assert!(trouble.message.ends_with("worker.log was removed"), "{trouble}");
        std::fs::write(&path, "scan.rule took 20ms\n").expect("another");
        source.sample(moment(1_600)).expect("it is there again");
        let from = moment(1_000);
        let evidence = source.look_back(&Period { from, to: moment(1_800) }).expect("it is there");
        let lines = evidence.signals.iter().find(|signal| signal.name == "log_lines").expect("lines");
        let points: Vec<f64> = lines.points.iter().map(|(_, value)| value.round()).collect();
        assert_eq!(points, [5.0, 5.0, 0.0], "no points between: {evidence:?}");
        let task = evidence.records.iter().map(shown).find(|record| record.starts_with("task"));
        assert!(task.is_some_and(|task| task.contains("count=2")), "{evidence:?}");
    }

    #[test]
    fn promises_are_kept_without_a_file() {
        promises::of_an_absent_server(source("nowhere-that-exists/*.log").as_mut());
    }
}
