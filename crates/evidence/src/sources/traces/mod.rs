//! Trace backends, queried after the run: for the traces of its requests, and by a search of its time range.
//!
//! Search results are neither all traces nor an unbiased sample, and are marked so.

mod jaeger;
mod tempo;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use model::{
    Datum, Epoch, Evidence, Instant, Kept, Record, RecordKind, Span, SpanStatus, SystemClock, Trace,
};
use otlp::{Decoded, Decoder};

use crate::contract::{About, Check, ErrorKind, Moment, Period, Source, SourceError};
use crate::settings::{Settings, SettingsError};

pub(super) use jaeger::KIND as JAEGER;
pub(super) use tempo::KIND as TEMPO;

/// Maximum number of traces of one run.
const TRACES_MAX: usize = 200;
/// Maximum number of spans of one trace, and of all together: less than the capacity of a run's file.
const SPANS_OF_TRACE_MAX: usize = 5_000;
const SPANS_MAX: usize = 30_000;
/// Maximum number of services searched separately.
const SERVICES_MAX: usize = 10;
/// Timeout of a query, and latest start of a further one within a call: their sum stays below [`crate::contract::CALL_LIMIT`].
const QUESTION_LIMIT: Duration = Duration::from_secs(3);
const BEGIN_LIMIT: Duration = Duration::from_millis(6_500);
/// Maximum size of a response in protobuf and in JSON, bytes; JSON becomes a tree a hundred times as large.
const ANSWER_BYTES_MAX: u64 = 16 << 20;
const JSON_BYTES_MAX: u64 = 4 << 20;

/// A trace backend.
trait Store: Send {
    /// Tries the queries that the run will need.
    fn probe(&self) -> Vec<Check>;

    /// Returns the services to search: those in the settings, or all.
    fn services(&self) -> Result<Vec<String>, SourceError>;

    /// Searches a time range for traces of a service, up to a maximum; with `has_failed` for those with errors.
    fn search(&self, search: &Search<'_>, decoder: &mut Decoder) -> Result<Hits, SourceError>;

    /// Returns a complete trace; `None` if it does not exist.
    fn trace(&self, number: u128, decoder: &mut Decoder) -> Result<Option<Decoded>, SourceError>;
}

/// Search conditions.
struct Search<'a> {
    period: &'a Period,
    service: &'a str,
    has_failed: bool,
    traces_max: usize,
}

/// Results of a search: trace IDs, or complete traces.
#[derive(Default)]
struct Hits {
    numbers: Vec<u128>,
    spans: Vec<(u128, Span)>,
}

struct Traces {
    about: About,
    store: Box<dyn Store>,
    wanted: Vec<u128>,
}

/// Traces of a run while they are collected.
#[derive(Default)]
struct Gathering {
    traces: BTreeMap<u128, Vec<Span>>,
    /// Trace ids that are not fetched yet, in order.
    numbers: Vec<u128>,
    spans: usize,
    spans_left_out: usize,
    traces_not_read: usize,
    /// Number of traces of the run's requests that the backend lacks.
    traces_not_there: usize,
    /// The reason for stopping early.
    why: Option<String>,
}

fn source(settings: &Settings, kind: &'static str, base: String, store: Box<dyn Store>) -> Box<dyn Source> {
    let about = About { name: settings.name.clone(), kind, address: base };
    Box::new(Traces { about, store, wanted: Vec::new() })
}

/// Returns the services in the settings.
fn services_of(settings: &Settings) -> Result<Vec<String>, SettingsError> {
    let services = settings.list("service");
    if services.len() > SERVICES_MAX {
        return Err(settings.wrong("service", "too many services; the maximum is 10"));
    }
    Ok(services)
}

impl Source for Traces {
    fn about(&self) -> About {
        self.about.clone()
    }

    fn probe(&mut self) -> Vec<Check> {
        self.store.probe()
    }

    fn period(&self) -> Option<Duration> {
        None
    }

    fn sample(&mut self, _now: Moment) -> Result<Evidence, SourceError> {
        Ok(Evidence::default())
    }

    fn look_for(&mut self, traces: &[u128]) {
        self.wanted = traces.iter().take(TRACES_MAX).copied().collect();
    }

    fn look_back(&mut self, period: &Period) -> Result<Evidence, SourceError> {
        let begun = SystemClock::now();
        let is_late = || SystemClock::now().since(begun) > BEGIN_LIMIT;
        let mut decoder = Decoder::new(Epoch { at: period.from.at, wall_unix_ns: period.from.wall_ns });
        let mut gathering = Gathering::default();
        self.search(period, &mut decoder, &is_late, &mut gathering)?;
        self.fetch(&mut decoder, &is_late, &mut gathering);
        Ok(self.evidence(gathering, period.to.at))
    }
}

impl Traces {
    /// Searches each service twice: for errors, and without conditions.
    fn search(
        &self,
        period: &Period,
        decoder: &mut Decoder,
        is_late: &dyn Fn() -> bool,
        gathering: &mut Gathering,
    ) -> Result<(), SourceError> {
        let services = self.store.services()?;
        let services = &services[..services.len().min(SERVICES_MAX)];
        let traces_max = TRACES_MAX / (2 * services.len().max(1));
        gathering.numbers.extend(&self.wanted);
        for (service, has_failed) in services.iter().flat_map(|service| [(service, true), (service, false)]) {
            if is_late() {
                gathering.why.get_or_insert("the time limit of the search was reached".to_owned());
                return Ok(());
            }
            let hits = self.store.search(&Search { period, service, has_failed, traces_max }, decoder)?;
            gathering.numbers.extend(hits.numbers);
            gathering.take(hits.spans);
        }
        Ok(())
    }

    /// Fetches traces known by id only. Earlier results stay if that fails.
    fn fetch(&self, decoder: &mut Decoder, is_late: &dyn Fn() -> bool, gathering: &mut Gathering) {
        let wanted: BTreeSet<u128> = self.wanted.iter().copied().collect();
        let mut asked = BTreeSet::new();
        let numbers = std::mem::take(&mut gathering.numbers);
        let new: Vec<u128> = numbers
            .into_iter()
            .filter(|number| !gathering.traces.contains_key(number) && asked.insert(*number))
            .collect();
        for (place, number) in new.iter().enumerate() {
            let left = new.len() - place;
            if is_late() || gathering.traces.len() >= TRACES_MAX {
                gathering.traces_not_read += left;
                return;
            }
            match self.store.trace(*number, decoder) {
                Ok(Some(decoded)) => gathering.take(decoded.spans),
                Ok(None) => gathering.traces_not_there += usize::from(wanted.contains(number)),
                Err(trouble) => {
                    gathering.traces_not_read += left;
                    gathering.why.get_or_insert(trouble.message);
                    return;
                }
            }
        }
    }

    fn evidence(&self, gathering: Gathering, at: Instant) -> Evidence {
        let counts = [
            ("traces_not_read", gathering.traces_not_read),
            ("traces_not_there", gathering.traces_not_there),
            ("spans_left_out", gathering.spans_left_out),
        ];
        let counts = counts.into_iter().filter(|(_, count)| *count > 0);
        let mut fields: BTreeMap<String, Datum> =
            counts.map(|(name, count)| (name.to_owned(), (count as f64).into())).collect();
        fields.extend(gathering.why.map(|why| ("why".to_owned(), why.into())));
        let (source, subject) = (self.about.name.clone(), "traces are incomplete".to_owned());
        let warning = Record { source, kind: RecordKind::Warning, at, subject, fields };
        Evidence {
            records: if warning.fields.is_empty() { Vec::new() } else { vec![warning] },
            traces: gathering.traces.into_iter().map(trace).collect(),
            ..Evidence::default()
        }
    }
}

impl Gathering {
    fn take(&mut self, spans: Vec<(u128, Span)>) {
        for (number, span) in spans {
            let is_new = !self.traces.contains_key(&number);
            if self.spans >= SPANS_MAX || (is_new && self.traces.len() >= TRACES_MAX) {
                self.spans_left_out += 1;
                continue;
            }
            let known = self.traces.entry(number).or_default();
            if known.len() >= SPANS_OF_TRACE_MAX {
                self.spans_left_out += 1;
            // A search for errors also returns traces that the other search returns.
            } else if !known.iter().any(|one| one.id == span.id) {
                known.push(span);
                self.spans += 1;
            }
        }
    }
}

fn trace((id, mut spans): (u128, Vec<Span>)) -> Trace {
    spans.sort_by_key(|span| (span.start_ns, span.id));
    let has_failed = spans.iter().any(|span| span.status == SpanStatus::Error);
    Trace { id, kept: if has_failed { Kept::Error } else { Kept::Found }, spans }
}

/// Returns true if the server responded that the trace does not exist.
fn is_absent(error: &SourceError) -> bool {
    error.kind == ErrorKind::NotFound
}

#[cfg(test)]
mod tests;
