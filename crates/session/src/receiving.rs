//! Traces that servers send during a run: received, stored once per second, with a short wait at the end.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, SyncSender};
use std::time::Duration;

use model::plan::ENDLESS;
use model::{Datum, Evidence, Instant, LogLevel, Plan, Record, RecordKind, RunEvent, Span, SystemClock};
use otlp::{Counts, Pace, Receiver, Settings};
use runs::{Exit, Failure};
use script::TraceSample;

use crate::Context;
use crate::listener::{Listener, LoadOver, Records};
use crate::recording::Recording;

/// The source name of received traces in a run's file.
const SOURCE: &str = "otlp";

/// A trace is complete when no span of it arrives for this long.
const QUIET: Duration = Duration::from_secs(10);

/// Silence after which no span is in transit: exporters send every five seconds (OpenTelemetry SDK, batch span processor).
const SILENCE: Duration = Duration::from_secs(6);

/// Maximum wait for spans after the load.
const WAIT_MAX: Duration = Duration::from_secs(12);

/// Interval at which the receiver is checked for new spans.
const LOOKED_EACH: Duration = Duration::from_millis(100);

/// Assumed length of a run without an end; the budget of stored traces is spread over it.
const EXPECTED_OF_ENDLESS: Duration = Duration::from_secs(3600);

/// The same silence for the lab, whose services send every second.
const SILENCE_OF_LAB: Duration = Duration::from_secs(3);

/// Default share of requests with a trace context while a receiver listens.
pub const SHARE_DEFAULT: f64 = 0.01;

/// Maximum number of spans of requests and tasks that wait for the receiver, which takes them once per second; further ones are
/// dropped and counted.
const OWN_SPANS_WAITING_MAX: usize = 8_192;

/// The spans of a lab system.
#[derive(Clone, Debug, PartialEq)]
pub struct LabTraces {
    /// The system's name.
    pub system: String,
    /// The address that the system sends spans to.
    pub address: SocketAddr,
    /// The share of requests of the system's script that carry a trace context.
    pub share: f64,
}

/// Settings of the trace receiver and of trace contexts in requests.
#[derive(Clone, Default)]
pub struct ReceiveSettings {
    /// Addresses to listen on; empty if nothing is received.
    pub addresses: Vec<SocketAddr>,
    /// The token that senders must present; masked in every file.
    pub token: Option<String>,
    /// The share of requests that carry a trace context.
    pub share: f64,
    /// The lab system that sends spans without configuration.
    pub lab: Option<LabTraces>,
}

/// A trace receiver during a run.
pub(crate) struct Receiving {
    receiver: Receiver,
    own: Arc<OwnSpans>,
    waiting: mpsc::Receiver<(u128, Span)>,
    lab: Option<LabTraces>,
    share: f64,
}

/// The sink for spans of the run's own requests and tasks; never blocks.
struct OwnSpans {
    sender: SyncSender<(u128, Span)>,
    dropped: AtomicU64,
}

impl script::Spans for OwnSpans {
    fn add(&self, trace: u128, span: Span) {
        if self.sender.try_send((trace, span)).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl ReceiveSettings {
    /// Returns true if any request carries a trace context.
    pub fn makes_traces(&self) -> bool {
        TraceSample::from_share(self.share).is_some()
    }

    /// Returns the sample of requests that carry a trace context; `None` if nothing receives traces and none were requested.
    pub(crate) fn sample(&self, receiving: Option<&Receiving>) -> Option<TraceSample> {
        if self.lab.is_some() && receiving.is_none() { None } else { TraceSample::from_share(self.share) }
    }
}

impl Receiving {
    /// Starts the receiver, if an address is configured.
    ///
    /// # Errors
    /// An address is in use, or reachable from other machines without a token.
    pub(crate) fn start(
        settings: &ReceiveSettings,
        plan: &Plan,
        context: &Context,
    ) -> Result<Option<Receiving>, Failure> {
        if settings.addresses.is_empty() {
            return Ok(None);
        }
        let (share, lab) = (settings.share, settings.lab.clone());
        let longest = plan::vu_demand(plan).duration_max;
        let expected = if longest >= ENDLESS { EXPECTED_OF_ENDLESS } else { longest };
        let settings = Settings {
            addresses: settings.addresses.clone(),
            token: settings.token.clone(),
            pace: Pace { began: SystemClock::now(), expected, quiet: QUIET },
        };
        match Receiver::start(&settings, context.epoch) {
            Ok(receiver) => {
                let (sender, waiting) = mpsc::sync_channel(OWN_SPANS_WAITING_MAX);
                let own = Arc::new(OwnSpans { sender, dropped: AtomicU64::new(0) });
                Ok(Some(Receiving { receiver, own, waiting, lab, share }))
            }
            Err(error) if lab.is_some() => {
                let text = format!("failed to {error}; the test continues without traces");
                context.logger.say(LogLevel::Warn, text);
                Ok(None)
            }
            Err(error) => {
                let hint = match error {
                    otlp::StartError::Open(_) => "; set PLIMSOLL_OTLP_TOKEN",
                    _ => "; set another address with --otlp=127.0.0.1:PORT",
                };
                Err(Failure::new(Exit::CannotServe, format!("failed to {error}{hint}")))
            }
        }
    }

    /// Returns the listening addresses, for the banner.
    pub(crate) fn place(&self) -> String {
        let place = format!("OTLP (gRPC and HTTP) at {}", self.addresses());
        let Some(lab) = &self.lab else { return place };
        let percent = self.share * 100.0;
        format!("{place}, as the lab's {} sends there; {percent}% of requests (--otlp=off: none)", lab.system)
    }

    /// Returns the sink for spans of the run itself.
    pub(crate) fn own(&self) -> Arc<dyn script::Spans> {
        self.own.clone()
    }

    /// Processes an event. Received spans are stored once per second.
    pub(crate) fn on_event(&self, event: &RunEvent, recording: Option<&mut Recording>) {
        if matches!(event, RunEvent::Window(_)) {
            self.hand_on(recording);
        }
    }

    /// Waits for spans in transit after the load, unless the user hurries; stores them and logs a summary.
    pub(crate) fn finish(
        self,
        over: Instant,
        hurries: &dyn Fn() -> bool,
        recording: Option<&mut Recording>,
        context: &Context,
    ) {
        self.wait(over, hurries, context);
        self.take_own();
        let addresses = self.addresses();
        let (taken, counts) = self.receiver.finish();
        say(&counts, context);
        let dropped = self.own.dropped.load(Ordering::Relaxed);
        if dropped > 0 {
            let text = format!("{dropped} spans of requests and tasks were dropped: too many at once");
            context.logger.say(LogLevel::Warn, text);
        }
        let Some(recording) = recording else { return };
        recording.traces(taken.traces, taken.operations);
        let mut fields = counts.fields();
        fields.insert("kind".to_owned(), SOURCE.into());
        fields.insert("address".to_owned(), Datum::Text(addresses));
        fields.insert("own_spans_dropped".to_owned(), Datum::Number(dropped as f64));
        let (kind, subject) = (RecordKind::Source, SOURCE.to_owned());
        let record = Record { source: SOURCE.to_owned(), kind, at: SystemClock::now(), subject, fields };
        recording.evidence(Evidence { records: vec![record], ..Evidence::default() });
    }

    fn wait(&self, over: Instant, hurries: &dyn Fn() -> bool, context: &Context) {
        let silence = if self.lab.is_some() { SILENCE_OF_LAB } else { SILENCE };
        let is_done = |now: Instant| {
            let last = self.receiver.last_received().map_or(over, |last| last.max(over));
            now.since(last) >= silence || now.since(over) >= WAIT_MAX || hurries()
        };
        if is_done(SystemClock::now()) {
            return;
        }
        if !context.is_quiet {
            let seconds = WAIT_MAX.as_secs();
            context.logger.report(&format!("traces: waiting for the last spans, at most {seconds} s"));
        }
        while !is_done(SystemClock::now()) {
            std::thread::sleep(LOOKED_EACH);
        }
    }

    fn take_own(&self) {
        self.receiver.add(self.waiting.try_iter().collect());
    }

    fn hand_on(&self, recording: Option<&mut Recording>) {
        self.take_own();
        let taken = self.receiver.take();
        if let Some(recording) = recording {
            recording.traces(taken.traces, taken.operations);
        }
    }

    fn addresses(&self) -> String {
        let addresses: Vec<String> = self.receiver.addresses().iter().map(SocketAddr::to_string).collect();
        addresses.join(", ")
    }
}

/// The listener that stores received traces once per second, and waits for them at the end.
pub(crate) struct TraceListener<'a> {
    receiving: Option<Receiving>,
    context: &'a Context,
}

impl<'a> TraceListener<'a> {
    /// Returns a listener for this receiver.
    pub(crate) fn new(receiving: Receiving, context: &'a Context) -> TraceListener<'a> {
        TraceListener { receiving: Some(receiving), context }
    }
}

impl Listener for TraceListener<'_> {
    fn on_event(&mut self, event: &RunEvent, records: &mut Records) {
        if let Some(receiving) = &self.receiving {
            receiving.on_event(event, records.recording.as_mut());
        }
    }

    fn finish(&mut self, over: &LoadOver<'_>, records: &mut Records) {
        if let Some(receiving) = self.receiving.take() {
            receiving.finish(over.at, &|| over.hurries(), records.recording.as_mut(), self.context);
        }
    }
}

/// Logs the number of received and lost spans.
fn say(counts: &Counts, context: &Context) {
    let (spans, own) = (counts.spans_received, counts.spans_own);
    let (traces, kept) = (counts.traces_kept, counts.spans_kept);
    let text = format!(
        "traces: {spans} spans received, {own} generated by the run, {traces} traces kept with {kept} spans"
    );
    let losses = counts.losses();
    if !losses.is_empty() {
        context.logger.say(LogLevel::Warn, format!("{text}; left out: {}", losses.join(", ")));
    } else if !context.is_quiet {
        context.logger.report(&text);
    }
}
