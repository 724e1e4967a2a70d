//! The listener that writes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use model::{
    Clock, Evidence, GeneratorState, Instant, LogLine, MetricRegistry, OperationLoad, RunEvent, SystemClock,
    TagInterner, ThresholdResult, Trace, Window,
};

use crate::facts::Anchor;
use crate::store::{LOG_BYTES_MAX, Store};
use crate::{Ending, Header, WriteError};

/// Events that wait for a slow disk; what comes while so many wait is lost and counted.
pub const QUEUE_EVENTS_MAX: usize = 4096;

/// Log lines among them, so that a target that refuses each request costs lines, and no window.
const QUEUE_LOG_LINES_MAX: usize = QUEUE_EVENTS_MAX / 2;

/// How long rows wait for their window before they are written without it: during a long `setup()`, for example.
const PATIENCE: Duration = Duration::from_secs(1);

/// States of the generator that are written together.
const STATES_PER_ROW: usize = 60;

/// The same of the first ones: who reads a run that has just begun finds the state of its generator.
const FIRST_STATES_PER_ROW: usize = 10;

/// Writes a run's file beside the load. It never makes the load wait.
#[derive(Debug)]
pub struct Writer {
    path: PathBuf,
    queue: SyncSender<Item>,
    thread: JoinHandle<Report>,
    /// The first error, until it is reported.
    trouble: Arc<Mutex<Option<String>>>,
    lost: Lost,
    last_anchor: Option<Anchor>,
    /// Bytes of log lines handed over, so that a queue of long ones stays within what is kept anyway.
    log_bytes: u64,
    /// Log lines in the queue.
    lines_waiting: Arc<AtomicUsize>,
}

/// The state of the file after the run.
#[derive(Debug)]
pub struct Report {
    /// How large the file is.
    pub bytes: u64,
    /// Windows that are not in it.
    pub windows_lost: u64,
    /// Log lines that are not in it.
    pub log_lines_lost: u64,
    /// Whether all windows and the ending are in it, or in its log beside it.
    pub is_whole: bool,
    /// The first thing that went wrong. The file holds what was written before and after.
    pub error: Option<WriteError>,
}

/// Items that wait to be written.
#[derive(Debug)]
enum Item {
    Window(Arc<Window>, Anchor),
    /// Of the hub or the only machine, or of an agent with this name.
    State(String, GeneratorState),
    Agents(Arc<Vec<model::AgentFacts>>),
    Thresholds(Instant, Arc<Vec<ThresholdResult>>),
    Log(LogLine),
    Event(Instant, &'static str, String),
    Note(i64, String),
    Evidence(Evidence),
    Traces(Vec<Trace>, Vec<OperationLoad>),
    /// The ending of a run whose file is whole, and of one whose file is not.
    End(Box<Ending>, Box<Ending>),
}

#[derive(Clone, Copy, Debug, Default)]
struct Lost {
    windows: u64,
    log_lines: u64,
    states: u64,
    evidence: u64,
}

impl Writer {
    /// Makes the file and starts writing. Secrets in the header are hidden.
    ///
    /// # Errors
    /// The file exists already or cannot be made: a read-only folder, a full disk.
    pub fn create(
        path: &Path,
        header: &Header,
        registry: Arc<MetricRegistry>,
        tags: Arc<TagInterner>,
    ) -> Result<Writer, WriteError> {
        let store = Store::create(path, header, registry, tags, true)?;
        let (queue, items) = sync_channel(QUEUE_EVENTS_MAX);
        let trouble = Arc::default();
        let lines_waiting = Arc::default();
        let work = Work {
            store,
            pending: Vec::new(),
            states: BTreeMap::new(),
            trouble: Arc::clone(&trouble),
            error: None,
            lost: Lost::default(),
            lines_waiting: Arc::clone(&lines_waiting),
        };
        let thread = std::thread::Builder::new()
            .name("runfile".into())
            .spawn(move || work.run(&items))
            .map_err(WriteError::Thread)?;
        let (path, lost) = (path.to_owned(), Lost::default());
        Ok(Writer { path, queue, thread, trouble, lost, last_anchor: None, log_bytes: 0, lines_waiting })
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Takes an event, at once. Raw samples are not stored.
    pub fn on_event(&mut self, event: &RunEvent) {
        let now = SystemClock.now();
        let item = match event {
            RunEvent::Window(window) => {
                let anchor = Anchor { at: now, wall_unix_ns: SystemClock.wall_unix_ns() };
                self.last_anchor = Some(anchor);
                Item::Window(window.clone(), anchor)
            }
            RunEvent::Thresholds { at, results } => Item::Thresholds(*at, results.clone()),
            RunEvent::Log(line) => match self.has_room_for(line) {
                true => Item::Log(line.clone()),
                false => return,
            },
            RunEvent::SetupStarted => Item::Event(now, "setup_started", String::new()),
            RunEvent::ScenariosStarted { at } => Item::Event(*at, "scenarios_started", String::new()),
            RunEvent::ScenariosEnded { at } => Item::Event(*at, "scenarios_ended", String::new()),
            RunEvent::TeardownStarted => Item::Event(now, "teardown_started", String::new()),
            RunEvent::Ended => Item::Event(now, "ended", String::new()),
            RunEvent::SamplesLost { count } => Item::Event(now, "samples_lost", count.to_string()),
            RunEvent::Agents(agents) => Item::Agents(agents.clone()),
            RunEvent::Initializing { .. } | RunEvent::Samples(_) | RunEvent::AgentReading { .. } => return,
        };
        self.send(item);
    }

    /// Both clocks as they are stored with the last window.
    pub fn last_anchor(&self) -> Option<Anchor> {
        self.last_anchor
    }

    /// Takes what was read about the generator.
    pub fn state(&mut self, state: GeneratorState) {
        self.send(Item::State(String::new(), state));
    }

    /// Takes what was read about the generator on the machine of an agent.
    pub fn state_of(&mut self, agent: &str, state: GeneratorState) {
        self.send(Item::State(agent.to_owned(), state));
    }

    /// Takes evidence from sources.
    pub fn evidence(&mut self, evidence: Evidence) {
        if !evidence.is_empty() {
            self.send(Item::Evidence(evidence));
        }
    }

    /// Takes traces that were kept, and how often operations ran.
    pub fn traces(&mut self, traces: Vec<Trace>, operations: Vec<OperationLoad>) {
        if !traces.is_empty() || !operations.is_empty() {
            self.send(Item::Traces(traces, operations));
        }
    }

    /// Returns the error while writing, once, as soon as it is known: a text that reads after "failed to".
    pub fn trouble(&mut self) -> Option<String> {
        self.trouble.lock().ok()?.take()
    }

    /// Adds a remark.
    pub fn note(&mut self, text: &str) {
        self.send(Item::Note(SystemClock.wall_unix_ns(), text.to_owned()));
    }

    /// Writes what waits and how the run ended, and leaves one plain file.
    pub fn finish(self, ending: Ending) -> Report {
        self.finish_judged(ending.clone(), ending)
    }

    /// The same for a run whose verdict depends on whether it could be stored: `incomplete` is the ending of one that lacks
    /// windows.
    pub fn finish_judged(self, ending: Ending, incomplete: Ending) -> Report {
        let Writer { queue, thread, lost, .. } = self;
        let with_losses = |ending: Ending| {
            Box::new(Ending {
                windows_lost: lost.windows,
                log_lines_lost: lost.log_lines,
                states_lost: lost.states,
                evidence_lost: lost.evidence,
                ..ending
            })
        };
        // The end may wait for the disk: the load is over.
        let _ = queue.send(Item::End(with_losses(ending), with_losses(incomplete)));
        drop(queue);
        let stopped = |_| Report {
            bytes: 0,
            windows_lost: 0,
            log_lines_lost: 0,
            is_whole: false,
            error: Some(WriteError::Stopped),
        };
        let report = thread.join().unwrap_or_else(stopped);
        Report {
            windows_lost: report.windows_lost + lost.windows,
            log_lines_lost: report.log_lines_lost + lost.log_lines,
            ..report
        }
    }

    fn has_room_for(&mut self, line: &LogLine) -> bool {
        self.log_bytes = self.log_bytes.saturating_add(line.message.len() as u64);
        let has_room = self.log_bytes <= LOG_BYTES_MAX;
        self.lost.log_lines += u64::from(!has_room);
        has_room
    }

    fn send(&mut self, item: Item) {
        let is_line = matches!(item, Item::Log(_));
        if is_line && self.lines_waiting.load(Ordering::Relaxed) >= QUEUE_LOG_LINES_MAX {
            return self.lost.count(&item);
        }
        // Counted before it is sent, or the other thread could take it off the count first.
        self.lines_waiting.fetch_add(usize::from(is_line), Ordering::Relaxed);
        if let Err(TrySendError::Full(item) | TrySendError::Disconnected(item)) = self.queue.try_send(item) {
            self.lines_waiting.fetch_sub(usize::from(is_line), Ordering::Relaxed);
            self.lost.count(&item);
        }
    }
}

impl Lost {
    fn count(&mut self, item: &Item) {
        match item {
            Item::Window(..) => self.windows += 1,
            Item::Log(_) => self.log_lines += 1,
            Item::State(..) => self.states += 1,
            Item::Evidence(evidence) => self.evidence += pieces(evidence),
            Item::Traces(traces, operations) => {
                self.evidence += traces.iter().map(|trace| trace.spans.len() as u64).sum::<u64>();
                self.evidence += operations.len() as u64;
            }
            _ => {}
        }
    }
}

/// How many points, records and gaps there are.
fn pieces(evidence: &Evidence) -> u64 {
    let points: usize = evidence.signals.iter().map(|signal| signal.points.len()).sum();
    (points + evidence.records.len() + evidence.gaps.len()) as u64
}

/// Readings of one machine's generator.
#[derive(Default)]
struct States {
    waiting: Vec<GeneratorState>,
    /// Number of states so far.
    taken: usize,
}

/// The thread's side.
struct Work {
    store: Store,
    /// Taken from the queue and not in the file yet.
    pending: Vec<Item>,
    /// States of each machine that wait for their row to be full.
    states: BTreeMap<String, States>,
    trouble: Arc<Mutex<Option<String>>>,
    error: Option<WriteError>,
    lost: Lost,
    /// Log lines in the queue.
    lines_waiting: Arc<AtomicUsize>,
}

impl Work {
    fn run(mut self, items: &Receiver<Item>) -> Report {
        loop {
            match items.recv_timeout(PATIENCE) {
                Ok(Item::End(ending, incomplete)) => return self.finish(Some((*ending, *incomplete))),
                Ok(item) => self.take(item),
                Err(RecvTimeoutError::Timeout) => self.flush(),
                Err(RecvTimeoutError::Disconnected) => return self.finish(None),
            }
        }
    }

    fn take(&mut self, item: Item) {
        let is_line = matches!(item, Item::Log(_));
        self.lines_waiting.fetch_sub(usize::from(is_line), Ordering::Relaxed);
        let item = match item {
            Item::State(instance, state) => return self.take_state(instance, state),
            item => item,
        };
        let is_window = matches!(item, Item::Window(..));
        self.pending.push(item);
        if is_window {
            self.flush();
            let compacted = self.store.compact(false);
            self.note_error(compacted);
            self.store.settle();
            self.notice_deletion();
        } else if self.pending.len() >= QUEUE_EVENTS_MAX {
            self.flush();
        }
    }

    /// Writes what is pending in one transaction. If the disk refuses, it is tried again with the next window.
    fn flush(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        let pending = &self.pending;
        let done = self.store.transaction(|store| pending.iter().try_for_each(|item| write(store, item)));
        match done {
            Ok(()) => self.pending.clear(),
            Err(_) => self.give_up_oldest(),
        }
        self.note_error(done);
    }

    fn take_state(&mut self, instance: String, state: GeneratorState) {
        let states = self.states.entry(instance).or_default();
        states.waiting.push(state);
        states.taken += 1;
        let per_row = if states.taken <= STATES_PER_ROW { FIRST_STATES_PER_ROW } else { STATES_PER_ROW };
        if states.waiting.len().is_multiple_of(per_row) {
            self.flush_states();
        }
    }

    /// Writes the states. If the disk refuses, they are tried again with the next ones.
    fn flush_states(&mut self) {
        let waiting = self.states.iter().filter(|(_, states)| !states.waiting.is_empty());
        let waiting: Vec<(Option<&str>, &[GeneratorState])> = waiting
            .map(|(name, states)| ((!name.is_empty()).then_some(name.as_str()), states.waiting.as_slice()))
            .collect();
        if waiting.is_empty() {
            return;
        }
        let put = |store: &mut Store| {
            waiting.iter().try_for_each(|(instance, states)| store.put_states(states, *instance))
        };
        let done = self.store.transaction(put);
        for states in self.states.values_mut() {
            if done.is_ok() {
                states.waiting.clear();
            } else if states.waiting.len() >= QUEUE_EVENTS_MAX {
                self.lost.states += states.waiting.drain(..QUEUE_EVENTS_MAX / 2).len() as u64;
            }
        }
        self.note_error(done);
    }

    /// Keeps memory bounded while the disk refuses.
    fn give_up_oldest(&mut self) {
        if self.pending.len() < QUEUE_EVENTS_MAX {
            return;
        }
        let oldest = self.pending.drain(..QUEUE_EVENTS_MAX / 2);
        oldest.for_each(|item| self.lost.count(&item));
    }

    fn note_error(&mut self, done: rusqlite::Result<()>) {
        let path = || self.store.path.clone();
        if let Err(error) = done.map_err(|source| WriteError::Sqlite { path: path(), source }) {
            self.note(error);
        }
    }

    fn note(&mut self, error: WriteError) {
        if self.error.is_some() {
            return;
        }
        if let Ok(mut trouble) = self.trouble.lock() {
            *trouble = Some(error.to_string());
        }
        self.error = Some(error);
    }

    /// A deleted file can still be written, and cannot be read.
    fn notice_deletion(&mut self) -> bool {
        let is_gone = self.store.is_gone();
        if is_gone {
            self.note(WriteError::Gone(self.store.path.clone()));
        }
        is_gone
    }

    /// Without an ending the writer was dropped: the file stays a partial one.
    fn finish(mut self, endings: Option<(Ending, Ending)>) -> Report {
        self.flush();
        let mut is_whole = self.pending.is_empty() && endings.is_some();
        let pending = std::mem::take(&mut self.pending);
        pending.iter().for_each(|item| self.lost.count(item));
        self.flush_states();
        self.lost.states += self.states.values().map(|states| states.waiting.len() as u64).sum::<u64>();
        if let Some((ending, incomplete)) = endings {
            is_whole &= self.lost.windows + ending.windows_lost + self.store.lost().0 == 0;
            let compacted = self.store.compact(true);
            self.note_error(compacted);
            // What the ending needs should not be found missing after it.
            self.store.settle();
            let ended = self.put_ending(if is_whole { ending } else { incomplete });
            is_whole &= ended.is_ok();
            self.note_error(ended);
        }
        is_whole &= !self.notice_deletion();
        let Work { store, mut error, lost, .. } = self;
        let (path, refused) = (store.path.clone(), store.lost());
        if let Err(failed) = store.close() {
            error.get_or_insert(failed);
        }
        Report {
            bytes: std::fs::metadata(&path).map_or(0, |metadata| metadata.len()),
            windows_lost: lost.windows + refused.0,
            log_lines_lost: lost.log_lines + refused.1,
            is_whole,
            error,
        }
    }

    fn put_ending(&mut self, ending: Ending) -> rusqlite::Result<()> {
        let lost = (self.lost.windows + ending.windows_lost, self.lost.log_lines + ending.log_lines_lost);
        let ending = Ending {
            states_lost: self.lost.states + ending.states_lost,
            evidence_lost: self.lost.evidence + ending.evidence_lost + self.store.evidence_lost(),
            ..ending
        };
        self.store.transaction(|store| store.put_ending(&ending, lost.0, lost.1))
    }
}

fn write(store: &mut Store, item: &Item) -> rusqlite::Result<()> {
    match item {
        Item::Window(window, anchor) => {
            store.put_anchor(*anchor)?;
            store.put_window(window)
        }
        Item::Thresholds(at, results) => store.put_thresholds(at.as_ns(), results),
        Item::Log(line) => store.put_log(line),
        Item::Event(at, kind, text) => store.put_event(at.as_ns(), kind, text),
        Item::Note(wall_ns, text) => store.put_note(*wall_ns, text),
        Item::Evidence(evidence) => store.put_evidence(evidence),
        Item::Traces(traces, operations) => {
            store.put_traces(traces)?;
            store.put_operations(operations)
        }
        // States are gathered and written by themselves.
        Item::Agents(agents) => store.put_agents(agents),
        Item::State(..) | Item::End(..) => Ok(()),
    }
}
