//! Queries several sources during a run, each on a separate thread.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, TrySendError, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use model::{Epoch, Evidence, Gap, Instant, Record, RecordKind, SystemClock};

use crate::contract::{About, Moment, Period, Source, SourceError};

/// Maximum number of answers in the queue; further ones are dropped and recorded as a gap.
const ANSWERS_WAITING_MAX: usize = 1024;

/// Delay before a failed source is queried again, initial and maximum.
const REST_MIN: Duration = Duration::from_secs(1);
const REST_MAX: Duration = Duration::from_secs(15);

/// An answer that is this many periods late is recorded as a gap.
const LATE_PERIODS: u32 = 2;

/// Reason of a gap where answers were dropped.
const NOT_STORED: &str = "samples were dropped: the run file could not be written fast enough";

/// Collects from sources during a run, and once more when it is over.
pub struct Collector {
    asked: Vec<Asked>,
    answers: Receiver<Evidence>,
    epoch: Epoch,
}

/// A running source.
struct Asked {
    about: About,
    state: Arc<Shared>,
    /// Signals the end of the run to the thread.
    over: Sender<Over>,
    thread: JoinHandle<()>,
    /// The evidence of the whole run.
    last: Receiver<Evidence>,
}

/// The period of a run, and the trace ids of its requests.
type Over = (Period, Arc<[u128]>);

/// State of a source's thread, as other threads see it.
#[derive(Default)]
struct Shared {
    answers: AtomicU64,
    failures: AtomicU64,
    is_done: AtomicBool,
    trouble: Mutex<Option<String>>,
}

/// State of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceState {
    /// Identity of the source.
    pub about: About,
    /// Successful queries.
    pub answers: u64,
    /// Failed queries.
    pub failures: u64,
    /// The reason why the last query failed; `None` if it succeeded.
    pub trouble: Option<String>,
}

impl Collector {
    /// Starts one thread per source.
    ///
    /// # Errors
    /// The system has no thread left for a source.
    pub fn start(sources: Vec<Box<dyn Source>>, epoch: Epoch) -> std::io::Result<Collector> {
        let (sender, answers) = sync_channel(ANSWERS_WAITING_MAX);
        let asked = sources.into_iter().map(|source| Asked::start(source, epoch, sender.clone()));
        Ok(Collector { asked: asked.collect::<Result<_, _>>()?, answers, epoch })
    }

    /// Returns the evidence since the last call. Never blocks.
    pub fn take(&self) -> Evidence {
        let mut evidence = Evidence::default();
        self.answers.try_iter().for_each(|answer| evidence.append(answer));
        evidence
    }

    /// Returns the states of all sources.
    pub fn states(&self) -> Vec<SourceState> {
        let state = |asked: &Asked| SourceState {
            about: asked.about.clone(),
            answers: asked.state.answers.load(Ordering::Relaxed),
            failures: asked.state.failures.load(Ordering::Relaxed),
            trouble: asked.state.trouble(),
        };
        self.asked.iter().map(state).collect()
    }

    /// Queries the whole run once more, waiting at most `patience`; a source that has not answered by then is abandoned, and a gap
    /// is recorded. `traces` are the known trace ids of the run's requests.
    pub fn finish(self, from: Instant, to: Instant, traces: &[u128], patience: Duration) -> Evidence {
        let period = Period { from: Moment::new(from, &self.epoch), to: Moment::new(to, &self.epoch) };
        let traces: Arc<[u128]> = traces.into();
        for asked in &self.asked {
            // A thread that has ended has reported the reason.
            let _ = asked.over.send((period, traces.clone()));
        }
        let deadline = SystemClock::now() + patience;
        let mut evidence = Evidence::default();
        let states = self.states();
        for (asked, state) in self.asked.into_iter().zip(states) {
            let left = deadline.since(SystemClock::now());
            match asked.last.recv_timeout(left) {
                Ok(answer) => evidence.append(answer),
                Err(RecvTimeoutError::Timeout) => {
                    let reason = format!("no response within {} s", patience.as_secs());
                    evidence.gaps.push(Gap { source: asked.about.name.clone(), from, to, reason });
                }
                Err(RecvTimeoutError::Disconnected) => {
                    let reason =
                        "the source crashed, which is a bug in plimsoll; please report it".to_owned();
                    evidence.gaps.push(Gap { source: asked.about.name.clone(), from, to, reason });
                }
            }
            if asked.state.is_done.load(Ordering::Acquire) {
                // The thread has nothing left to do, and a panic was reported as a gap.
                let _ = asked.thread.join();
            }
            evidence.records.push(state.record(to));
        }
        self.answers.try_iter().for_each(|answer| evidence.append(answer));
        evidence
    }
}

impl SourceState {
    /// Returns the record of the source itself for the run file.
    pub fn record(&self, at: Instant) -> Record {
        let SourceState { about, answers, failures, trouble } = self;
        let mut fields: std::collections::BTreeMap<String, model::Datum> = [
            ("kind".to_owned(), about.kind.into()),
            ("address".to_owned(), about.address.clone().into()),
            ("answers".to_owned(), (*answers as f64).into()),
            ("failures".to_owned(), (*failures as f64).into()),
        ]
        .into();
        fields.extend(trouble.clone().map(|trouble| ("trouble".to_owned(), trouble.into())));
        let (source, subject) = (about.name.clone(), about.name.clone());
        Record { source, kind: RecordKind::Source, at, subject, fields }
    }
}

impl Asked {
    fn start(source: Box<dyn Source>, epoch: Epoch, sender: SyncSender<Evidence>) -> std::io::Result<Asked> {
        let about = source.about();
        let state = Arc::<Shared>::default();
        let (over, is_over) = channel();
        let (last_sender, last) = sync_channel(1);
        let begun = SystemClock::now();
        let asking = Asking {
            source,
            epoch,
            sender,
            state: state.clone(),
            silent_since: None,
            last_at: begun,
            untold: None,
        };
        let work = move || {
            let state = asking.state.clone();
            let evidence = asking.run(&is_over);
            // There is no receiver if the run ended too long ago.
            let _ = last_sender.send(evidence);
            state.is_done.store(true, Ordering::Release);
        };
        let thread = std::thread::Builder::new().name(format!("ask {}", about.name)).spawn(work)?;
        Ok(Asked { about, state, over, thread, last })
    }
}

impl Shared {
    fn trouble(&self) -> Option<String> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_trouble(&self, trouble: Option<String>) {
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = trouble;
    }
}

/// The state of a source's thread.
struct Asking {
    source: Box<dyn Source>,
    epoch: Epoch,
    sender: SyncSender<Evidence>,
    state: Arc<Shared>,
    /// Start of the current failure, and its reason.
    silent_since: Option<(Instant, String)>,
    /// The latest time at which the source answered.
    last_at: Instant,
    /// The interval whose answers were dropped.
    untold: Option<(Instant, Instant)>,
}

impl Asking {
    /// Queries the source until the run is over, then returns the evidence of the whole run.
    fn run(mut self, is_over: &Receiver<Over>) -> Evidence {
        let over = match self.source.period() {
            Some(period) => self.ask_each(period, is_over),
            None => is_over.recv().ok(),
        };
        // If the run was abandoned, its evidence is not needed.
        let Some((over, traces)) = over else { return Evidence::default() };
        self.source.look_for(&traces);
        let mut evidence = match self.source.look_back(&over) {
            Ok(evidence) => {
                self.state.answers.fetch_add(1, Ordering::Relaxed);
                evidence
            }
            Err(SourceError { message: reason, .. }) => {
                self.failed(&reason);
                // A source queried during the run lacks only the result of this query.
                let from = if self.source.period().is_some() { over.to.at } else { over.from.at };
                let gap = Gap { source: self.source.about().name, from, to: over.to.at, reason };
                Evidence { gaps: vec![gap], ..Evidence::default() }
            }
        };
        evidence.gaps.extend(self.close_silence(over.to.at));
        evidence.gaps.extend(self.untold_gap());
        evidence
    }

    /// Queries once per period until the run is over.
    fn ask_each(&mut self, period: Duration, is_over: &Receiver<Over>) -> Option<Over> {
        let mut rest = REST_MIN;
        let mut due = SystemClock::now();
        loop {
            let wait = due.since(SystemClock::now());
            match is_over.recv_timeout(wait) {
                Ok(over) => return Some(over),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => {}
            }
            let asked_at = SystemClock::now();
            let answer = self.source.sample(Moment::new(asked_at, &self.epoch));
            let answered_at = SystemClock::now();
            match answer {
                Ok(mut evidence) => {
                    self.state.answers.fetch_add(1, Ordering::Relaxed);
                    self.state.set_trouble(None);
                    evidence.gaps.extend(self.close_silence(asked_at));
                    evidence.gaps.extend(self.late_gap(asked_at, answered_at, period));
                    self.deliver(evidence, answered_at);
                    self.last_at = answered_at;
                    rest = REST_MIN;
                    // Missed queries are skipped: a slow source is not queried twice in a row.
                    due = due + period;
                    if due < answered_at {
                        due = answered_at + period;
                    }
                }
                Err(SourceError { message: reason, .. }) => {
                    self.failed(&reason);
                    self.silent_since.get_or_insert((self.last_at, reason));
                    due = answered_at + rest.max(period);
                    rest = (rest * 2).min(REST_MAX);
                }
            }
        }
    }

    fn failed(&self, reason: &str) {
        self.state.failures.fetch_add(1, Ordering::Relaxed);
        self.state.set_trouble(Some(reason.to_owned()));
    }

    /// Returns the gap that ends now, if there is one.
    fn close_silence(&mut self, to: Instant) -> Option<Gap> {
        let (from, reason) = self.silent_since.take()?;
        Some(Gap { source: self.source.about().name, from, to, reason })
    }

    fn late_gap(&self, asked_at: Instant, answered_at: Instant, period: Duration) -> Option<Gap> {
        let took = answered_at.since(asked_at);
        (took > period * LATE_PERIODS && took > REST_MIN).then(|| Gap {
            source: self.source.about().name,
            from: asked_at,
            to: answered_at,
            reason: format!("slow response: the source took {:.1} s", took.as_secs_f64()),
        })
    }

    /// Delivers evidence, with a gap for answers dropped before.
    fn deliver(&mut self, mut evidence: Evidence, now: Instant) {
        let untold = self.untold.take();
        evidence.gaps.extend(untold.map(|untold| self.gap_of(untold)));
        if evidence.is_empty() {
            return;
        }
        if let Err(TrySendError::Full(_)) = self.sender.try_send(evidence) {
            let from = untold.map_or(self.last_at, |untold| untold.0);
            self.untold = Some((from, now));
        }
    }

    fn untold_gap(&mut self) -> Option<Gap> {
        self.untold.take().map(|untold| self.gap_of(untold))
    }

    fn gap_of(&self, (from, to): (Instant, Instant)) -> Gap {
        Gap { source: self.source.about().name, from, to, reason: NOT_STORED.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use model::Signal;

    use super::*;
    use crate::contract::Check;

    /// A source that counts its queries and follows a script.
    struct Scripted {
        asked: u64,
        fails: std::ops::Range<u64>,
        takes: Duration,
    }

    impl Source for Scripted {
        fn about(&self) -> About {
            About { name: "made".to_owned(), kind: "made", address: "nowhere".to_owned() }
        }

        fn probe(&mut self) -> Vec<Check> {
            vec![Check::works("made", "1")]
        }

        fn period(&self) -> Option<Duration> {
            Some(Duration::from_millis(50))
        }

        fn sample(&mut self, now: Moment) -> Result<Evidence, SourceError> {
            self.asked += 1;
            if self.fails.contains(&self.asked) {
                return Err(SourceError::new("connection refused"));
            }
            Ok(Evidence { signals: vec![signal("asked", now.at, self.asked as f64)], ..Evidence::default() })
        }

        fn look_back(&mut self, period: &Period) -> Result<Evidence, SourceError> {
            std::thread::sleep(self.takes);
            Ok(Evidence { signals: vec![signal("last", period.to.at, 1.0)], ..Evidence::default() })
        }
    }

    fn signal(name: &str, at: Instant, value: f64) -> Signal {
        Signal {
            source: "made".to_owned(),
            name: name.into(),
            labels: BTreeMap::new(),
            unit: String::new(),
            query: "made".to_owned(),
            step: Duration::from_millis(50),
            points: vec![(at, value)],
        }
    }

    fn collect(source: Scripted, run: Duration, patience: Duration) -> Evidence {
        let epoch = Epoch::anchor(&SystemClock);
        let from = SystemClock::now();
        let collector = Collector::start(vec![Box::new(source)], epoch).expect("a thread");
        std::thread::sleep(run);
        let mut evidence = collector.take();
        evidence.append(collector.finish(from, SystemClock::now(), &[], patience));
        evidence
    }

    fn quick() -> Scripted {
        Scripted { asked: 0, fails: 0..0, takes: Duration::ZERO }
    }

    #[test]
    fn a_source_is_asked_each_period_and_once_at_the_end() {
        let evidence = collect(quick(), Duration::from_millis(500), Duration::from_secs(5));
        let asked = evidence.signals.iter().filter(|signal| signal.name == "asked").count();
        assert!((3..=11).contains(&asked), "{asked} times in 500 ms");
        assert_eq!(evidence.signals.iter().filter(|signal| signal.name == "last").count(), 1);
        assert_eq!(evidence.gaps, []);
        let [about] = &evidence.records[..] else { panic!("one source") };
        assert_eq!((about.kind, &about.fields["kind"]), (RecordKind::Source, &"made".into()));
    }

    #[test]
    fn a_source_that_fails_for_a_while_leaves_a_gap_with_its_reason() {
        let source = Scripted { fails: 3..5, ..quick() };
        let evidence = collect(source, Duration::from_millis(3_600), Duration::from_secs(5));
        let [gap] = &evidence.gaps[..] else { panic!("one gap: {:?}", evidence.gaps) };
        assert_eq!(gap.reason, "connection refused");
        let length = gap.to.since(gap.from);
        assert!(length > Duration::from_secs(2), "it rests for one and two seconds: {length:?}");
        let signals: Vec<Instant> = evidence.signals.iter().map(|signal| signal.points[0].0).collect();
        assert!(!signals.iter().any(|at| gap.from < *at && *at < gap.to), "nothing is known within the gap");
    }

    #[test]
    fn a_source_that_never_answers_is_left_behind() {
        let source = Scripted { takes: Duration::from_secs(30), ..quick() };
        let begun = SystemClock::now();
        let evidence = collect(source, Duration::from_millis(120), Duration::from_millis(300));
        assert!(SystemClock::now().since(begun) < Duration::from_secs(5));
        assert!(evidence.gaps[0].reason.starts_with("no response within"), "{:?}", evidence.gaps);
        assert!(evidence.signals.iter().any(|signal| signal.name == "asked"), "earlier evidence stays");
    }
}
