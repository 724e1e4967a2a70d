//! The logger: log lines, the console of scripts, and live progress between them.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::plan::Plan;
use model::{Instant, LogLevel, LogLine, RunEvent, RunProgress, SystemClock};
use redact::{Redactor, urls_hidden};
use report::Style;
use report::log::{LogFormat, LogFormatter};
use report::progress::Live;

use crate::failure_lines::FailureLines;
use crate::loki::{Loki, LokiConfig};

/// Width in columns of a terminal that does not report it.
const WIDTH_DEFAULT: usize = 80;

/// A logger that accepts lines from any thread.
pub struct Logger {
    formatter: LogFormatter,
    least: LogLevel,
    out: Mutex<Out>,
    console: Option<Mutex<File>>,
    style: Style,
    redactor: Redactor,
    tap: Mutex<Option<SyncSender<LogLine>>>,
    /// Number of lines that did not fit into the tap.
    tap_lost: AtomicU64,
    /// The bound on lines about failed requests, where people read them; `None` where all are written.
    failures: Option<Mutex<FailureLines>>,
}

/// Sources of lines that scripts print themselves.
const SOURCES_OF_SCRIPTS: [&str; 2] = ["console", "http-debug"];

/// Capacity of the tap in lines. It is drained with every window, so this is the maximum per second.
const TAP_LINES_MAX: usize = 16_384;

/// The destination of log lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Target {
    /// Standard error, together with the progress.
    #[default]
    Stderr,
    /// Standard output.
    Stdout,
    /// No destination.
    Nowhere,
    /// A file, to which lines are appended.
    File(std::path::PathBuf),
    /// A Loki server.
    Loki(LokiConfig),
}

enum Out {
    Stderr(Option<Live<io::Stderr>>),
    Stdout,
    Nowhere,
    File(File),
    Loki(Loki),
}

/// The configuration of a [`Logger`].
#[derive(Clone, Debug)]
pub struct LoggerConfig {
    /// The destination of lines.
    pub target: Target,
    /// The format of lines.
    pub format: LogFormat,
    /// Whether debug lines are shown.
    pub is_verbose: bool,
    /// Whether colours are allowed on a terminal.
    pub may_colour: bool,
    /// A separate file for the scripts' console.
    pub console: Option<std::path::PathBuf>,
    /// Converts instants to the wall clock.
    pub epoch: model::Epoch,
    /// Hides secrets in lines of the runner.
    pub redactor: Redactor,
}

impl Logger {
    /// Opens the destinations.
    ///
    /// # Errors
    /// A file cannot be created; the error includes its path.
    pub fn new(config: &LoggerConfig) -> Result<Logger, (std::path::PathBuf, io::Error)> {
        let (out, is_terminal) = match &config.target {
            Target::Stderr => (Out::Stderr(None), io::stderr().is_terminal()),
            Target::Stdout => (Out::Stdout, io::stdout().is_terminal()),
            Target::Nowhere => (Out::Nowhere, false),
            Target::File(path) => (Out::File(append(path)?), false),
            Target::Loki(loki) => {
                let started = Loki::start(loki.clone(), config.epoch);
                (Out::Loki(started.map_err(|error| ("a thread for it".into(), error))?), false)
            }
        };
        let style = style(config.may_colour && is_terminal);
        let is_bounded = matches!(out, Out::Stderr(_) | Out::Stdout) && !config.is_verbose;
        let console = config.console.as_deref().map(append).transpose()?.map(Mutex::new);
        Ok(Logger {
            formatter: LogFormatter {
                format: config.format,
                style,
                epoch: config.epoch,
                started: config.epoch.at,
                is_terminal,
            },
            least: if config.is_verbose { LogLevel::Debug } else { LogLevel::Info },
            out: Mutex::new(out),
            console,
            style,
            redactor: config.redactor.clone(),
            tap: Mutex::default(),
            tap_lost: AtomicU64::new(0),
            failures: is_bounded.then(Mutex::default),
        })
    }

    /// Logs a line from the runner.
    pub fn say(&self, level: LogLevel, text: impl Into<String>) {
        script::Log::log(self, LogLine::new(SystemClock::now(), level, text));
    }

    /// Prints text that is no log line, such as a source excerpt, if the log's readers are people.
    pub fn print(&self, text: &str) {
        if self.formatter.format == LogFormat::Text {
            self.write(&self.shown(text));
        }
    }

    /// Reports a result: as plain text if the log's readers are people, else as a log line.
    pub fn report(&self, text: &str) {
        match self.formatter.format {
            LogFormat::Text => self.write(&format!("{}\n", self.shown(text))),
            LogFormat::Raw | LogFormat::Json => self.say(LogLevel::Info, text),
        }
    }

    /// Draws the progress of this plan between the lines from now on, if they go to standard error.
    pub(crate) fn show_progress(&self, plan: &Plan) {
        if let Out::Stderr(live) = &mut *self.out() {
            let is_terminal = io::stderr().is_terminal();
            *live = Some(Live::new(io::stderr(), plan, self.style, is_terminal));
        }
    }

    /// Passes an event of the run to the progress display.
    pub(crate) fn on_event(&self, event: &RunEvent) {
        if matches!(event, RunEvent::Window(_) | RunEvent::Ended) {
            self.report_failures(SystemClock::now(), matches!(event, RunEvent::Ended));
        }
        if let Out::Stderr(Some(live)) = &mut *self.out() {
            live.on_event(event);
        }
    }

    /// Draws the progress if it is due; for the last time with `is_over`.
    pub fn tick(&self, progress: &RunProgress, is_over: bool) {
        let Out::Stderr(live) = &mut *self.out() else { return };
        let width = stderr_width();
        // Standard error may be closed; the run continues without progress.
        let _ = match (live.take(), is_over) {
            (None, _) => Ok(()),
            (Some(last), true) => last.finish(progress, SystemClock::now(), width),
            (Some(mut again), false) => {
                let drawn = again.tick(progress, SystemClock::now(), width);
                *live = Some(again);
                drawn
            }
        };
    }

    /// Copies every line to the returned receiver from now on.
    pub(crate) fn tap(&self) -> Receiver<LogLine> {
        let (sender, receiver) = sync_channel(TAP_LINES_MAX);
        *self.tap.lock().unwrap_or_else(PoisonError::into_inner) = Some(sender);
        receiver
    }

    /// Ends [`Logger::tap`]; returns the number of lines lost.
    pub(crate) fn untap(&self) -> u64 {
        *self.tap.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.tap_lost.swap(0, Ordering::Relaxed)
    }

    /// Returns the number of lines that the tap has lost since the last call.
    pub(crate) fn take_tap_lost(&self) -> u64 {
        self.tap_lost.swap(0, Ordering::Relaxed)
    }

    /// Waits until every line is written or sent.
    pub fn finish(&self) {
        let Out::Loki(loki) = &*self.out() else { return };
        let lost = loki.finish();
        if lost > 0 {
            crate::terminal::print_error(&format!("{lost} log lines did not reach Loki"));
        }
    }

    fn pass_on(&self, line: &LogLine) {
        let tap = self.tap.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(Err(TrySendError::Full(_))) = tap.as_ref().map(|tap| tap.try_send(line.clone())) {
            self.tap_lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn write(&self, text: &str) {
        // If the log cannot be written, there is no other place to report that.
        let _ = match &mut *self.out() {
            Out::Stderr(Some(live)) => live.print(text, stderr_width()),
            Out::Stderr(None) => io::stderr().write_all(text.as_bytes()),
            Out::Stdout => io::stdout().write_all(text.as_bytes()),
            Out::Nowhere => Ok(()),
            Out::File(file) => file.write_all(text.as_bytes()),
            // Loki receives log lines only; source excerpts are for people.
            Out::Loki(_) => Ok(()),
        };
    }

    /// Whether a line is shown, or counts among the failed requests of its second.
    fn admits(&self, line: &LogLine) -> bool {
        let Some(failures) = &self.failures else { return true };
        self.report_failures(line.at, false);
        failures.lock().unwrap_or_else(PoisonError::into_inner).admits(line)
    }

    /// Writes how many failed requests were not shown one by one, once their second or the run is over.
    fn report_failures(&self, now: Instant, is_run_over: bool) {
        let Some(failures) = &self.failures else { return };
        let held = failures.lock().unwrap_or_else(PoisonError::into_inner).take_held(now, is_run_over);
        if let Some(held) = held {
            self.write(&self.formatter.render(&held));
        }
    }

    fn out(&self) -> MutexGuard<'_, Out> {
        self.out.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Logger {
    /// Hides secrets in a line of the runner. The scripts' own lines are theirs, as in k6: they may print what they debug.
    fn hide_secrets(&self, line: &mut LogLine) {
        let texts = line.fields.iter_mut().map(|(_, value)| value);
        for text in texts.chain([&mut line.message]) {
            *text = self.shown(text).into_owned();
        }
    }

    /// A text of the runner as it is shown: without secrets, and without credentials in addresses.
    fn shown<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match urls_hidden(text) {
            Cow::Borrowed(text) => self.redactor.values_hidden(text),
            Cow::Owned(text) => Cow::Owned(self.redactor.values_hidden(&text).into_owned()),
        }
    }
}

impl script::Log for Logger {
    fn log(&self, mut line: LogLine) {
        if line.level < self.least {
            return;
        }
        if !SOURCES_OF_SCRIPTS.contains(&line.source) {
            self.hide_secrets(&mut line);
        }
        self.pass_on(&line);
        if let Out::Loki(loki) = &*self.out() {
            loki.log(&line);
        }
        if !self.admits(&line) {
            return;
        }
        let text = self.formatter.render(&line);
        match &self.console {
            Some(file) if line.source == "console" => {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                // As above: errors cannot be reported.
                let _ = file.write_all(text.as_bytes());
            }
            _ => self.write(&text),
        }
    }
}

/// Returns the style of a stream.
pub fn style(colour: bool) -> Style {
    Style { colour, unicode: is_utf8() }
}

/// Returns true if the terminal reads UTF-8. Without a locale it is assumed, because pipes and services set none.
fn is_utf8() -> bool {
    let set = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| {
        let value = std::env::var(name).ok()?;
        (!value.is_empty()).then_some(value)
    });
    set.is_none_or(|value| {
        let value = value.to_lowercase();
        value == "c" || value == "posix" || value.contains("utf-8") || value.contains("utf8")
    })
}

fn stderr_width() -> usize {
    rustix::termios::tcgetwinsize(io::stderr())
        .ok()
        .map(|size| usize::from(size.ws_col))
        .filter(|width| *width > 0)
        .unwrap_or(WIDTH_DEFAULT)
}

fn append(path: &Path) -> Result<File, (std::path::PathBuf, io::Error)> {
    File::options().create(true).append(true).open(path).map_err(|error| (path.to_owned(), error))
}

/// A thread that draws the progress ten times per second until it is dropped.
pub(crate) struct Ticker {
    stop: std::sync::mpsc::Sender<()>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Ticker {
    /// Interval between two drawings.
    const INTERVAL: std::time::Duration = std::time::Duration::from_millis(100);

    /// Starts drawing; if no thread can be started, the run continues without progress.
    pub(crate) fn start(logger: Arc<Logger>, progress: Arc<RunProgress>) -> Ticker {
        let (stop, stopped) = std::sync::mpsc::channel();
        let draw = move || {
            while stopped.recv_timeout(Ticker::INTERVAL) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                logger.tick(&progress, false);
            }
            logger.tick(&progress, true);
        };
        let thread = std::thread::Builder::new().name("progress".into()).spawn(draw).ok();
        Ticker { stop, thread }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        let _ = self.stop.send(());
        if let Some(thread) = self.thread.take() {
            // A panic there has been printed already.
            let _ = thread.join();
        }
    }
}
