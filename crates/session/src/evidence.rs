//! What servers did meanwhile: the sources that were named, asked beside a run.

use std::time::Duration;

use evidence::{Collector, Settings, Source, sources};
use model::{Evidence, Exemplar, Instant, LogLevel, RunEvent, SystemClock, Window};
use runs::{Exit, Failure};

use crate::Context;
use crate::listener::{Listener, LoadOver, Records};

/// How long the last answers are waited for, after the load: evidence that does not come by then is a gap.
const PATIENCE: Duration = Duration::from_secs(15);

/// Traces of requests that are looked for where traces are kept.
const TRACES_MAX: usize = 100;

/// The sources that a run asks, before it has begun.
#[derive(Default)]
pub struct Sources {
    sources: Vec<Box<dyn Source>>,
    /// Their credentials, which no file may hold.
    pub credentials: Vec<String>,
}

impl Sources {
    /// Says that nobody is asked, because what they told would be kept nowhere.
    pub fn decline(self, context: &Context) {
        if self.sources.is_empty() {
            return;
        }
        let names: Vec<String> = self.sources.iter().map(|source| source.about().name).collect();
        let text = format!(
            "no evidence from {}: the run is not stored, and neither is what they tell",
            names.join(", ")
        );
        context.logger.say(LogLevel::Warn, text);
    }

    /// Opens the sources of these settings. No request is sent yet.
    ///
    /// # Errors
    /// A source cannot be opened.
    pub fn open(settings: &[Settings]) -> Result<Sources, Failure> {
        let credentials = settings.iter().filter_map(|settings| settings.credential.clone()).collect();
        Ok(Sources { sources: open(settings)?, credentials })
    }

    /// Starts to ask. Without threads for it the load goes on alone, and that is told.
    pub fn start(self, context: &Context) -> Option<Gathering> {
        if self.sources.is_empty() {
            return None;
        }
        let begun = SystemClock::now();
        match Collector::start(self.sources, context.epoch) {
            Ok(collector) => {
                Some(Gathering { collector, begun, told: Vec::new(), asked: AskedFor::default() })
            }
            Err(error) => {
                let text = format!("failed to start asking for evidence: {error}; the test goes on without");
                context.logger.say(LogLevel::Warn, text);
                None
            }
        }
    }
}

/// Makes the sources of these settings.
///
/// # Errors
/// One of them cannot be made.
pub fn open(settings: &[Settings]) -> Result<Vec<Box<dyn Source>>, Failure> {
    let open = |settings: &Settings| {
        sources::open(settings)
            .map_err(|error| Failure::new(Exit::InvalidConfig, format!("failed to {error}")))
    };
    settings.iter().map(open).collect()
}

/// Sources that are being asked.
pub struct Gathering {
    collector: Collector,
    begun: Instant,
    /// Sources whose trouble was told already.
    told: Vec<String>,
    asked: AskedFor,
}

/// The traces of requests that are worth looking at one by one: those that took longest.
#[derive(Default)]
pub struct AskedFor {
    /// How long they took, and their numbers.
    traces: Vec<(f64, u128)>,
}

impl AskedFor {
    /// Adds requests that were put into traces.
    pub fn add<'a>(&mut self, exemplars: impl IntoIterator<Item = &'a Exemplar>) {
        let known = exemplars.into_iter().filter_map(|one| Some((one.value, one.trace_id?)));
        self.traces.extend(known);
        if self.traces.len() >= 2 * TRACES_MAX {
            self.shorten();
        }
    }

    /// Their numbers.
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
    /// Takes a second of the run.
    pub fn on_window(&mut self, window: &Window) {
        self.asked.add(&window.exemplars);
    }

    /// What was told since the last time. A source that fails for the first time is told on the terminal.
    pub fn take(&mut self, context: &Context) -> Evidence {
        for state in self.collector.states() {
            let Some(trouble) = state.trouble else { continue };
            if !self.told.contains(&state.about.name) {
                let text =
                    format!("no evidence from {} for now: {trouble}; the test goes on", state.about.name);
                context.logger.say(LogLevel::Warn, text);
                self.told.push(state.about.name);
            }
        }
        self.collector.take()
    }

    /// Asks about the whole run, from the first second to now.
    pub fn finish(self, context: &Context) -> Evidence {
        let names: Vec<String> = self.collector.states().into_iter().map(|state| state.about.name).collect();
        if !context.is_quiet {
            context.logger.tell(&format!("evidence: asking {}", names.join(", ")));
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

/// Evidence sources as a listener: asked once a second, and once more at the end.
pub(crate) struct EvidenceListener<'a> {
    gathering: Option<Gathering>,
    context: &'a Context,
}

impl<'a> EvidenceListener<'a> {
    /// Listens for these sources.
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
