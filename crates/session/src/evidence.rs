//! Server-side evidence: collects from the configured sources during a run.

use std::time::Duration;

use evidence::{Collector, Settings, Source, sources};
use model::{Evidence, Exemplar, Instant, LogLevel, RunEvent, SystemClock, Window};
use runs::{Exit, Failure};

use crate::Context;
use crate::listener::{Listener, LoadOver, Records};

/// Maximum wait for the last answers after the load; later evidence is a gap.
const PATIENCE: Duration = Duration::from_secs(15);

/// Maximum number of request traces that are looked up in trace backends.
const TRACES_MAX: usize = 100;

/// The evidence sources of a run before it begins.
#[derive(Default)]
pub struct Sources {
    sources: Vec<Box<dyn Source>>,
}

impl Sources {
    /// Warns that no evidence is collected, because the run leaves no file to store it.
    pub(crate) fn decline(self, context: &Context) {
        if self.sources.is_empty() {
            return;
        }
        let names: Vec<String> = self.sources.iter().map(|source| source.about().name).collect();
        let text = format!("no metrics from {}: the run is not stored (--no-store)", names.join(", "));
        context.logger.say(LogLevel::Warn, text);
    }

    /// Opens the sources of these settings. No request is sent yet.
    ///
    /// # Errors
    /// A source cannot be opened.
    pub fn open(settings: &[Settings]) -> Result<Sources, Failure> {
        Ok(Sources { sources: open(settings)? })
    }

    /// Starts collecting. If no thread can be started, the run continues without evidence and a warning is logged.
    pub(crate) fn start(self, context: &Context) -> Option<Gathering> {
        if self.sources.is_empty() {
            return None;
        }
        let begun = SystemClock::now();
        match Collector::start(self.sources, context.epoch) {
            Ok(collector) => {
                Some(Gathering { collector, begun, reported: Vec::new(), asked: AskedFor::default() })
            }
            Err(error) => {
                let text = format!(
                    "failed to start collecting server metrics: {error}; the test continues without them"
                );
                context.logger.say(LogLevel::Warn, text);
                None
            }
        }
    }
}

/// Creates the sources of these settings.
///
/// # Errors
/// A source cannot be created.
pub fn open(settings: &[Settings]) -> Result<Vec<Box<dyn Source>>, Failure> {
    let open = |settings: &Settings| {
        sources::open(settings)
            .map_err(|error| Failure::new(Exit::InvalidConfig, format!("failed to {error}")))
    };
    settings.iter().map(open).collect()
}

/// Sources that are being collected from.
pub(crate) struct Gathering {
    collector: Collector,
    begun: Instant,
    /// Sources whose failure was logged already.
    reported: Vec<String>,
    asked: AskedFor,
}

/// The slowest traced requests, whose traces are looked up individually.
#[derive(Default)]
pub struct AskedFor {
    /// Durations and trace ids.
    traces: Vec<(f64, u128)>,
}

impl AskedFor {
    /// Adds traced requests.
    pub fn add<'a>(&mut self, exemplars: impl IntoIterator<Item = &'a Exemplar>) {
        let known = exemplars.into_iter().filter_map(|one| Some((one.value, one.trace_id?)));
        self.traces.extend(known);
        if self.traces.len() >= 2 * TRACES_MAX {
            self.shorten();
        }
    }

    /// Returns the trace ids.
    pub fn numbers(mut self) -> Vec<u128> {
        self.shorten();
        self.traces.into_iter().map(|(_, trace)| trace).collect()
    }

    fn shorten(&mut self) {
        self.traces.sort_by(|a, b| b.0.total_cmp(&a.0));
        // A request can be an exemplar for more than one reason.
        self.traces.dedup_by_key(|(_, trace)| *trace);
        self.traces.truncate(TRACES_MAX);
    }
}

impl Gathering {
    /// Processes a second of the run.
    pub(crate) fn on_window(&mut self, window: &Window) {
        self.asked.add(&window.exemplars);
    }

    /// Returns the evidence since the last call. The first failure of a source is logged.
    pub(crate) fn take(&mut self, context: &Context) -> Evidence {
        for state in self.collector.states() {
            let Some(trouble) = state.trouble else { continue };
            if !self.reported.contains(&state.about.name) {
                let text = format!(
                    "no metrics from {} at the moment: {trouble}; the test continues",
                    state.about.name
                );
                context.logger.say(LogLevel::Warn, text);
                self.reported.push(state.about.name);
            }
        }
        self.collector.take()
    }

    /// Collects evidence about the whole run, from the first second to now.
    pub(crate) fn finish(self, context: &Context) -> Evidence {
        let names: Vec<String> = self.collector.states().into_iter().map(|state| state.about.name).collect();
        if !context.is_quiet {
            context.logger.report(&format!("evidence: asking {}", names.join(", ")));
        }
        let traces = self.asked.numbers();
        let evidence = self.collector.finish(self.begun, SystemClock::now(), &traces, PATIENCE);
        let gaps = evidence.gaps.len();
        if gaps > 0 {
            let text = format!("evidence has {gaps} gap(s), the first: {}", describe(&evidence));
            context.logger.say(LogLevel::Warn, text);
        }
        evidence
    }
}

/// The listener that collects evidence: once per second, and once more at the end.
pub(crate) struct EvidenceListener<'a> {
    gathering: Option<Gathering>,
    context: &'a Context,
}

impl<'a> EvidenceListener<'a> {
    /// Returns a listener for these sources.
    pub(crate) fn new(gathering: Gathering, context: &'a Context) -> EvidenceListener<'a> {
        EvidenceListener { gathering: Some(gathering), context }
    }
}

impl Listener for EvidenceListener<'_> {
    fn on_event(&mut self, event: &RunEvent, records: &mut Records) {
        if let (Some(gathering), Some(recording), RunEvent::Window(window)) =
            (&mut self.gathering, &mut records.recording, event)
        {
            gathering.on_window(window);
            recording.evidence(gathering.take(self.context));
        }
    }

    fn finish(&mut self, _: &LoadOver<'_>, records: &mut Records) {
        if let (Some(gathering), Some(recording)) = (self.gathering.take(), &mut records.recording) {
            recording.evidence(gathering.finish(self.context));
        }
    }
}

fn describe(evidence: &Evidence) -> String {
    let Some(gap) = evidence.gaps.first() else { return String::new() };
    format!("{} ({:.1} s): {}", gap.source, gap.to.since(gap.from).as_secs_f64(), gap.reason)
}

#[cfg(test)]
mod tests {
    use model::{ExemplarKind, Mark, MetricId, TagSetId};

    use super::*;

    #[test]
    fn the_slowest_requests_are_looked_for() {
        let exemplar = |value: f64, trace_id: Option<u128>| Exemplar {
            kind: ExemplarKind::Slowest,
            metric: MetricId(0),
            tags: TagSetId(0),
            at: Instant::ZERO,
            value,
            mark: Mark::Measured,
            trace_id,
            metadata: None,
        };
        let mut asked = AskedFor::default();
        for number in 1..=1_000u32 {
            asked.add(&[exemplar(f64::from(number), Some(number.into())), exemplar(9e9, None)]);
            asked.add(&[exemplar(f64::from(number), Some(number.into()))]);
        }
        let numbers = asked.numbers();
        assert_eq!((numbers.len(), numbers[0], numbers[TRACES_MAX - 1]), (TRACES_MAX, 1_000, 901));
    }
}
