//! Traces that servers send while a run goes on: received, stored once a second, and waited for a little at the end.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, SyncSender};
use std::time::Duration;

use model::plan::ENDLESS;
use model::{Datum, Evidence, Instant, LogLevel, Plan, Record, RecordKind, RunEvent, Span, SystemClock};
use otlp::{ADDRESSES_DEFAULT, Counts, Pace, Receiver, Settings};
use runs::{Exit, Failure};
use script::TraceSample;

use crate::common::Common;
use crate::env::parse_switch;
use crate::flags::OtlpFlags;
use crate::of_lab::LabTraces;
use crate::stored::Recording;

/// Of a run's file, the name of what is received here.
const SOURCE: &str = "otlp";

/// Addresses of one receiver.
const ADDRESSES_MAX: usize = 8;

/// A trace is whole once nothing more of it came for this long.
const QUIET: Duration = Duration::from_secs(10);

/// Exporters send what they have every five seconds (OpenTelemetry SDK, batch span processor), so that after so much silence
/// nothing is on its way.
const SILENCE: Duration = Duration::from_secs(6);

/// Nobody waits longer for spans once the load is over.
const WAIT_MAX: Duration = Duration::from_secs(12);

/// How often it is looked whether spans still come.
const LOOKED_EACH: Duration = Duration::from_millis(100);

/// What a run without an end is taken for: what may be kept is let out over that time.
const EXPECTED_OF_ENDLESS: Duration = Duration::from_secs(3600);

/// Services of the lab send what they have each second.
const SILENCE_OF_LAB: Duration = Duration::from_secs(3);

/// The share of requests that are put into traces while somebody listens.
pub(crate) const SHARE_DEFAULT: f64 = 0.01;

/// Spans of requests and tasks that wait for the receiver, which takes them once a second; what comes on top is dropped and
/// counted.
const OWN_SPANS_WAITING_MAX: usize = 8_192;

/// What was asked for.
#[derive(Clone, Default)]
pub(crate) struct ReceiveSettings {
    /// Empty, if nothing is received.
    addresses: Vec<SocketAddr>,
    /// What senders must show, which no file may hold.
    pub(crate) token: Option<String>,
    /// Of the requests, this share is put into traces.
    share: f64,
    /// The lab's system that spans are expected of, where nobody had to ask for them.
    lab: Option<LabTraces>,
}

/// A receiver beside a run.
pub(crate) struct Receiving {
    receiver: Receiver,
    own: Arc<OwnSpans>,
    waiting: mpsc::Receiver<(u128, Span)>,
    lab: Option<LabTraces>,
    share: f64,
}

/// Takes the spans that the run itself makes, of requests and tasks, without ever waiting.
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
    /// What flags and variables say; where they say nothing, what a system of the lab needs whose script this is.
    ///
    /// # Errors
    /// An address is none, or the share is no share.
    pub(crate) fn of(
        flags: &OtlpFlags,
        lab: Option<LabTraces>,
        common: &Common,
    ) -> Result<ReceiveSettings, Failure> {
        let wanted = flags.otlp.as_deref().or_else(|| common.env.setting("OTLP"));
        let lab = lab.filter(|_| wanted.is_none());
        let addresses = match (wanted, &lab) {
            (Some(text), _) => addresses(text).map_err(refuse)?,
            (None, Some(lab)) => vec![lab.address],
            (None, None) => Vec::new(),
        };
        let share = flags.trace_sample.as_deref().or_else(|| common.env.setting("TRACE_SAMPLE"));
        let share = match share {
            Some(text) => parse_share(text).map_err(refuse)?,
            None if addresses.is_empty() => 0.0,
            None => lab.as_ref().map_or(SHARE_DEFAULT, |lab| lab.share),
        };
        let token = common.env.setting("OTLP_TOKEN").map(str::to_owned);
        Ok(ReceiveSettings { addresses, token, share, lab })
    }

    /// Whether any request is put into a trace.
    pub(crate) fn makes_traces(&self) -> bool {
        TraceSample::of(self.share).is_some()
    }

    /// Which requests are put into traces, beside this receiver. Whoever asked for none and has none gets none.
    pub(crate) fn sample(&self, receiving: Option<&Receiving>) -> Option<TraceSample> {
        if self.lab.is_some() && receiving.is_none() { None } else { TraceSample::of(self.share) }
    }
}

impl Receiving {
    /// Opens the doors, where somebody asked for that.
    ///
    /// # Errors
    /// An address is taken, or open to others without a token.
    pub(crate) fn start(
        settings: &ReceiveSettings,
        plan: &Plan,
        common: &Common,
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
        match Receiver::start(&settings, common.epoch) {
            Ok(receiver) => {
                let (sender, waiting) = mpsc::sync_channel(OWN_SPANS_WAITING_MAX);
                let own = Arc::new(OwnSpans { sender, dropped: AtomicU64::new(0) });
                Ok(Some(Receiving { receiver, own, waiting, lab, share }))
            }
            Err(error) if lab.is_some() => {
                let text = format!("failed to {error}; the test goes on without traces");
                common.logger.say(LogLevel::Warn, text);
                Ok(None)
            }
            Err(error) => {
                let hint = match error {
                    otlp::StartError::Open(_) => "; set PLIMSOLL_OTLP_TOKEN",
                    _ => "; --otlp=127.0.0.1:PORT names another address",
                };
                Err(Failure::new(Exit::CannotServe, format!("failed to {error}{hint}")))
            }
        }
    }

    /// Where it listens, for the banner.
    pub(crate) fn place(&self) -> String {
        let place = format!("OTLP (gRPC and HTTP) at {}", self.addresses());
        let Some(lab) = &self.lab else { return place };
        let percent = self.share * 100.0;
        format!("{place}, as the lab's {} sends there; {percent}% of requests (--otlp=off: none)", lab.system)
    }

    /// Takes the spans that the run itself makes.
    pub(crate) fn own(&self) -> Arc<dyn script::Spans> {
        self.own.clone()
    }

    /// Takes an event. What was received is handed on once a second.
    pub(crate) fn on_event(&self, event: &RunEvent, recording: Option<&mut Recording>) {
        if matches!(event, RunEvent::Window(_)) {
            self.hand_on(recording);
        }
    }

    /// Waits for what is on its way since the load is over, unless somebody hurries, stores it, and says what came.
    pub(crate) fn finish(
        self,
        over: Instant,
        hurries: &dyn Fn() -> bool,
        recording: Option<&mut Recording>,
        common: &Common,
    ) {
        self.wait(over, hurries, common);
        self.take_own();
        let addresses = self.addresses();
        let (taken, counts) = self.receiver.finish();
        say(&counts, common);
        let dropped = self.own.dropped.load(Ordering::Relaxed);
        if dropped > 0 {
            let text = format!(
                "{dropped} spans of requests and tasks are not in their traces: there were too many at once"
            );
            common.logger.say(LogLevel::Warn, text);
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

    fn wait(&self, over: Instant, hurries: &dyn Fn() -> bool, common: &Common) {
        let silence = if self.lab.is_some() { SILENCE_OF_LAB } else { SILENCE };
        let is_done = |now: Instant| {
            let last = self.receiver.last_received().map_or(over, |last| last.max(over));
            now.since(last) >= silence || now.since(over) >= WAIT_MAX || hurries()
        };
        if is_done(SystemClock::now()) {
            return;
        }
        if !common.is_quiet {
            let seconds = WAIT_MAX.as_secs();
            common.logger.tell(&format!("traces: waiting for the last spans, at most {seconds} s"));
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

/// Says what came, and what of it was lost.
fn say(counts: &Counts, common: &Common) {
    let (spans, own) = (counts.spans_received, counts.spans_own);
    let (traces, kept) = (counts.traces_kept, counts.spans_kept);
    let text =
        format!("traces: {spans} spans received, {own} made here, {traces} traces kept with {kept} spans");
    let losses = counts.losses();
    if !losses.is_empty() {
        common.logger.say(LogLevel::Warn, format!("{text}; left out: {}", losses.join(", ")));
    } else if !common.is_quiet {
        common.logger.tell(&text);
    }
}

/// Addresses with commas between them; `true` means those that exporters send to by themselves, `false` and `off` none.
fn addresses(text: &str) -> Result<Vec<SocketAddr>, String> {
    if text == "off" {
        return Ok(Vec::new());
    }
    match parse_switch(text) {
        Some(true) => return Ok(ADDRESSES_DEFAULT.to_vec()),
        Some(false) => return Ok(Vec::new()),
        None => {}
    }
    let parse = |word: &str| {
        let wrong = |_| format!("read --otlp: {word:?} is no address; one is written as 127.0.0.1:4317");
        word.trim().parse::<SocketAddr>().map_err(wrong)
    };
    let addresses = text.split(',').map(parse).collect::<Result<Vec<_>, _>>()?;
    if addresses.len() > ADDRESSES_MAX {
        return Err(format!(
            "read --otlp: there are {} addresses, of at most {ADDRESSES_MAX}",
            addresses.len()
        ));
    }
    Ok(addresses)
}

/// `1%` or `0.01`.
fn parse_share(text: &str) -> Result<f64, String> {
    let number = match text.trim().strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map(|percent| percent / 100.0),
        None => text.trim().parse::<f64>(),
    };
    number
        .ok()
        .filter(|share| (0.0..=1.0).contains(share))
        .ok_or_else(|| format!("read --trace-sample: {text:?} is no share; one is written as 1% or 0.01"))
}

fn refuse(what: String) -> Failure {
    Failure::new(Exit::InvalidConfig, format!("failed to {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read() {
        let check = |text: &str, expect: Option<&[&str]>| {
            let actual = addresses(text).ok().map(|list| list.iter().map(SocketAddr::to_string).collect());
            let expect: Option<Vec<String>> =
                expect.map(|list| list.iter().map(|&one| one.to_owned()).collect());
            assert_eq!(actual, expect, "{text}");
        };
        check("true", Some(&["127.0.0.1:4317", "127.0.0.1:4318"]));
        check("false", Some(&[]));
        check("off", Some(&[]));
        check("127.0.0.1:0", Some(&["127.0.0.1:0"]));
        check("[::1]:4317, 127.0.0.1:5", Some(&["[::1]:4317", "127.0.0.1:5"]));
        check("localhost:4317", None);
        check("127.0.0.1", None);
        check("", None);
        check(&["127.0.0.1:0"; ADDRESSES_MAX + 1].join(","), None);
    }

    #[test]
    fn shares_are_read() {
        let check = |text: &str, expect: Option<f64>| assert_eq!(parse_share(text).ok(), expect, "{text}");
        check("1%", Some(0.01));
        check("0.25", Some(0.25));
        check(" 100 %", Some(1.0));
        check("0", Some(0.0));
        check("101%", None);
        check("-1%", None);
        check("NaN", None);
        check("some", None);
    }
}
