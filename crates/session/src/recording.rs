//! The listener that writes a run's file.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, TryRecvError};

use catalogue::{Catalogue, FileName, Location, RunId};
use engine::{RunConfig, RunOutcome};
use model::{Evidence, GeneratorState, LogLevel, LogLine, OperationLoad, RunEvent, SystemClock, Trace};
use redact::Redactor;
use runfile::Writer;
use runs::Exit;

use crate::Context;
use crate::header::RecordSettings;
use crate::test::Test;
use crate::{ending, header};

/// Maximum number of lines that wait for the live page, the newest ones; the page reads once per second and shows no more.
const FRESH_LINES_MAX: usize = 100;

/// A run's file while it is written.
pub(crate) struct Recording {
    catalogue: Catalogue,
    writer: Writer,
    id: RunId,
    path: PathBuf,
    /// Log lines from all threads.
    lines: Receiver<LogLine>,
    /// The number of stored lines, and those that the live page has not read yet.
    lines_taken: u64,
    fresh_lines: VecDeque<(u64, LogLine)>,
    wants_lines: bool,
    redactor: Redactor,
    /// Whether the file exists only for reports and is deleted with them.
    is_temporary: bool,
}

/// A run file that is closed.
pub(crate) struct Recorded {
    /// The run's id.
    pub(crate) id: RunId,
    /// The run's file.
    pub(crate) path: PathBuf,
    /// The reason why the file lacks seconds or the ending of the run; `None` if it has all.
    pub(crate) flaw: Option<Flaw>,
    catalogue: Catalogue,
    is_temporary: bool,
}

/// A run that is not in its store, or not all of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// There is no file that can be read.
    Missing(String),
    /// Seconds or the ending are missing in the file.
    Incomplete(String),
    /// They are missing in the file that exists only for reports.
    Reports(String),
}

impl Flaw {
    /// Returns the log line that states the flaw and the next step.
    pub(crate) fn line(&self) -> String {
        let hint = "free disk space, choose another store with --runs, or disable storing with --no-store";
        match self {
            Flaw::Missing(why) => format!("the run is not stored: {why}; {hint}"),
            Flaw::Incomplete(why) => format!("the run is stored incompletely: {why}; {hint}"),
            Flaw::Reports(why) => {
                format!("the reports are incomplete: {why}; free space in the folder of temporary files")
            }
        }
    }
}

/// A recording that was begun, or the reason why there is none.
#[derive(Default)]
pub(crate) struct Begun {
    /// The run's file; `None` where the run leaves none.
    pub(crate) recording: Option<Recording>,
    /// The reason why the run's store has no file of it.
    pub(crate) flaw: Option<Flaw>,
}

impl Recording {
    /// Creates the file. If that fails, the error is logged and the load continues. With `is_needed`, a temporary file is created
    /// where none stays, because reports are made from it.
    pub(crate) fn begin(
        test: &Test,
        context: &Context,
        config: &RunConfig,
        settings: &RecordSettings,
        id: &RunId,
        is_needed: bool,
    ) -> Begun {
        if settings.is_off && !is_needed {
            return Begun::default();
        }
        let begin = |is_temporary| {
            Recording::try_begin(test, context, config, settings, id.clone(), is_temporary).map_err(|why| {
                let hint =
                    "the test goes on; choose another store with --runs, or disable storing with --no-store";
                context.logger.say(LogLevel::Warn, format!("failed to store the run: {why} ({hint})"));
                if settings.is_off { Flaw::Reports(why) } else { Flaw::Missing(why) }
            })
        };
        match begin(settings.is_off) {
            Ok(recording) => Begun { recording: Some(recording), flaw: None },
            Err(flaw) => {
                let is_tried_again = is_needed && !settings.is_off;
                let recording = is_tried_again.then(|| begin(true).ok()).flatten();
                Begun { recording, flaw: Some(flaw) }
            }
        }
    }

    fn try_begin(
        test: &Test,
        context: &Context,
        config: &RunConfig,
        settings: &RecordSettings,
        id: RunId,
        is_temporary: bool,
    ) -> Result<Recording, String> {
        let started = SystemClock::now();
        let catalogue = if is_temporary {
            let folder = std::env::temp_dir().join(format!("plimsoll-{}-{id}", std::process::id()));
            Catalogue::open(Location::Directory(folder.clone()), &folder)
        } else {
            context.catalogue().map_err(|failure| failure.text.trim_start_matches("failed to ").to_owned())?
        };
        let name = FileName::new(context.epoch.wall_unix_ns(started), id.clone());
        let path = catalogue.begin(&name).map_err(|error| error.to_string())?;
        let header = header::build(test, context, settings, id.as_str(), config.workers);
        let mut writer = Writer::create(&path, &header, config.registry.clone(), config.tags.clone())
            .map_err(|error| error.to_string())?;
        settings.notes.iter().for_each(|note| writer.note(note));
        let lines = context.logger.tap();
        Ok(Recording {
            catalogue,
            writer,
            id,
            path,
            lines,
            lines_taken: 0,
            fresh_lines: VecDeque::new(),
            wants_lines: false,
            redactor: context.redactor.clone(),
            is_temporary,
        })
    }

    /// Processes an event. Log lines come through the tap, because most are not events.
    pub(crate) fn on_event(&mut self, event: &RunEvent, context: &Context) {
        if !matches!(event, RunEvent::Log(_) | RunEvent::Samples(_)) {
            self.writer.on_event(event);
        }
        self.take_lines();
        if let Some(why) = self.writer.trouble() {
            context.logger.say(LogLevel::Warn, format!("failed to {why}; the test goes on"));
        }
    }

    /// Returns the run's id.
    pub(crate) fn id(&self) -> &str {
        self.id.as_str()
    }

    /// Returns the path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the newest lines stored since the last call, numbered from 1. The first call starts keeping them.
    pub(crate) fn take_fresh_lines(&mut self) -> VecDeque<(u64, LogLine)> {
        self.wants_lines = true;
        std::mem::take(&mut self.fresh_lines)
    }

    /// Returns both clocks as stored with the last window.
    pub(crate) fn last_anchor(&self) -> Option<runfile::Anchor> {
        self.writer.last_anchor()
    }

    /// Stores a reading of the generator.
    pub(crate) fn state(&mut self, state: GeneratorState) {
        self.writer.state(state);
    }

    /// Stores a reading of the generator on the machine of an agent.
    pub(crate) fn state_of(&mut self, agent: &str, state: GeneratorState) {
        self.writer.state_of(agent, state);
    }

    /// Stores traces and the counts of operations.
    pub(crate) fn traces(&mut self, traces: Vec<Trace>, operations: Vec<OperationLoad>) {
        self.writer.traces(traces, operations);
    }

    /// Stores evidence of the sources.
    pub(crate) fn evidence(&mut self, evidence: Evidence) {
        self.writer.evidence(evidence);
    }

    fn take_lines(&mut self) {
        loop {
            match self.lines.try_recv() {
                Ok(line) => {
                    self.lines_taken += 1;
                    if self.wants_lines {
                        self.fresh_lines.push_back((self.lines_taken, self.without_secrets(line.clone())));
                    }
                    if self.fresh_lines.len() > FRESH_LINES_MAX {
                        self.fresh_lines.pop_front();
                    }
                    self.writer.on_event(&RunEvent::Log(line));
                }
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => return,
            }
        }
    }

    /// A line as the live page shows it.
    fn without_secrets(&self, mut line: LogLine) -> LogLine {
        let texts = line.fields.iter_mut().map(|(_, value)| value);
        texts.chain([&mut line.message]).for_each(|text| self.redactor.hide(text));
        line
    }

    /// Whether the file exists only for reports and is deleted with them.
    pub(crate) fn is_temporary(&self) -> bool {
        self.is_temporary
    }

    /// Writes the ending: that of `exit`, or of `incomplete` if the file lacks seconds.
    pub(crate) fn finish(
        mut self,
        outcome: &RunOutcome,
        exit: Exit,
        incomplete: Exit,
        context: &Context,
        config_tags: &model::TagInterner,
    ) -> Recorded {
        let lost = context.logger.untap();
        self.take_lines();
        if lost > 0 {
            let text = format!("{lost} log lines came faster than they could be stored");
            let line = LogLine::new(SystemClock::now(), LogLevel::Warn, text);
            self.writer.on_event(&RunEvent::Log(line));
        }
        let ending = |exit| ending::build(outcome, exit, &context.epoch, config_tags);
        let report = self.writer.finish_judged(ending(exit), ending(incomplete));
        let Recording { catalogue, id, path, is_temporary, .. } = self;
        let flaw = (!report.is_whole).then(|| flaw(&report, &path, is_temporary));
        if let Some(error) = report.error.filter(|_| flaw.is_none()) {
            let text = format!("failed to {error}; every second of the run is stored");
            context.logger.say(LogLevel::Warn, text);
        }
        Recorded { id, path, flaw, catalogue, is_temporary }
    }
}

/// Returns the flaw of a file that is not whole.
fn flaw(report: &runfile::Report, path: &Path, is_temporary: bool) -> Flaw {
    let lost = report.windows_lost;
    let lost =
        (lost > 0).then(|| format!("{lost} second{} missing", if lost == 1 { " is" } else { "s are" }));
    let error = report.error.as_ref().map(|error| format!("failed to {error}"));
    let is_gone = matches!(report.error, Some(runfile::WriteError::Gone(_)));
    let why: Vec<String> = lost.into_iter().chain(error).collect();
    let why = if why.is_empty() { "its ending is missing".to_owned() } else { why.join(", ") };
    if is_temporary {
        return Flaw::Reports(why);
    }
    let is_readable = !is_gone && runfile::Reader::open(path).is_ok();
    if is_readable { Flaw::Incomplete(why) } else { Flaw::Missing(why) }
}

impl Recorded {
    /// Adds the file to the catalogue, prints how to see the run again, and removes a temporary file.
    pub(crate) fn keep(self, context: &Context) {
        if self.is_temporary {
            // If it cannot be removed, the system cleans its temporary folder.
            let _ = self.path.parent().map(std::fs::remove_dir_all);
            return;
        }
        let is_missing = matches!(self.flaw, Some(Flaw::Missing(_)));
        for path in self.catalogue.waiting() {
            if path == self.path && !is_missing || is_over(&path) {
                self.hand_over(&path, context);
            }
        }
        if !context.is_quiet && !is_missing {
            let place = context.runs_words();
            context.logger.report(&format!("run: {}  plimsoll show{place} {}", self.id, self.id));
        }
    }

    fn hand_over(&self, path: &Path, context: &Context) {
        if let Err(error) = self.catalogue.keep(path) {
            context.logger.say(LogLevel::Warn, format!("failed to {error}; the next run tries again"));
        }
    }
}

/// Returns true if a file that waits for its upload is complete, as after a failed upload.
fn is_over(path: &Path) -> bool {
    runfile::Reader::open(path).is_ok_and(|reader| reader.state() == runfile::State::Complete)
}
