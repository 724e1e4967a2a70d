//! What servers did meanwhile: the sources that were named, asked beside a run.

mod settings;

use std::time::Duration;

use evidence::{Collector, Settings, Source, sources};
use model::{Evidence, Exemplar, Instant, LogLevel, SystemClock, Window};
use runs::{Exit, Failure};

use crate::common::Common;
use crate::flags::EvidenceFlags;
use crate::of_lab::OfLab;

pub(crate) use settings::named;

/// How long the last answers are waited for, after the load: evidence that does not come by then is a gap.
const PATIENCE: Duration = Duration::from_secs(15);

/// Traces of requests that are looked for where traces are kept.
const TRACES_MAX: usize = 100;

/// The sources that a run asks, before it has begun.
#[derive(Default)]
pub(crate) struct Wanted {
    sources: Vec<Box<dyn Source>>,
    /// Their credentials, which no file may hold.
    pub(crate) credentials: Vec<String>,
}

impl Wanted {
    /// Those that the flags and `plimsoll.toml` name, and those of the lab whose script this is. Nobody is asked yet.
    ///
    /// # Errors
    /// A source cannot be understood.
    pub(crate) fn of(flags: &EvidenceFlags, lab: Option<&OfLab>, common: &Common) -> Result<Wanted, Failure> {
        let mut settings = named(flags, common)?;
        let is_new = |source: &Settings| !settings.iter().any(|known| known.name == source.name);
        let of_lab = lab.map(OfLab::sources).unwrap_or_default();
        let of_lab: Vec<Settings> = of_lab.into_iter().filter(is_new).collect();
        settings.extend(of_lab);
        let credentials = settings.iter().filter_map(|settings| settings.credential.clone()).collect();
        Ok(Wanted { sources: open(&settings)?, credentials })
    }

    /// Says that nobody is asked, because what they told would be kept nowhere.
    pub(crate) fn decline(self, common: &Common) {
        if self.sources.is_empty() {
            return;
        }
        let names: Vec<String> = self.sources.iter().map(|source| source.about().name).collect();
        let text = format!(
            "no evidence from {}: the run is not stored, and neither is what they tell",
            names.join(", ")
        );
        common.logger.say(LogLevel::Warn, text);
    }

    /// These, and no others.
    ///
    /// # Errors
    /// A source cannot be made.
    pub(crate) fn these(settings: &[Settings]) -> Result<Wanted, Failure> {
        Ok(Wanted { sources: open(settings)?, credentials: Vec::new() })
    }

    /// Starts to ask. Without threads for it the load goes on alone, and that is told.
    pub(crate) fn start(self, common: &Common) -> Option<Gathering> {
        if self.sources.is_empty() {
            return None;
        }
        let begun = SystemClock::now();
        match Collector::start(self.sources, common.epoch) {
            Ok(collector) => {
                Some(Gathering { collector, begun, told: Vec::new(), asked: AskedFor::default() })
            }
            Err(error) => {
                let text = format!("failed to start asking for evidence: {error}; the test goes on without");
                common.logger.say(LogLevel::Warn, text);
                None
            }
        }
    }
}

/// Makes the sources of these settings.
///
/// # Errors
/// One of them cannot be made.
pub(crate) fn open(settings: &[Settings]) -> Result<Vec<Box<dyn Source>>, Failure> {
    let open = |settings: &Settings| {
        sources::open(settings)
            .map_err(|error| Failure::new(Exit::InvalidConfig, format!("failed to {error}")))
    };
    settings.iter().map(open).collect()
}

/// Sources that are being asked.
pub(crate) struct Gathering {
    collector: Collector,
    begun: Instant,
    /// Sources whose trouble was told already.
    told: Vec<String>,
    asked: AskedFor,
}

/// The traces of requests that are worth looking at one by one: those that took longest.
#[derive(Default)]
pub(crate) struct AskedFor {
    /// How long they took, and their numbers.
    traces: Vec<(f64, u128)>,
}

impl AskedFor {
    /// Adds requests that were put into traces.
    pub(crate) fn add<'a>(&mut self, exemplars: impl IntoIterator<Item = &'a Exemplar>) {
        let known = exemplars.into_iter().filter_map(|one| Some((one.value, one.trace_id?)));
        self.traces.extend(known);
        if self.traces.len() >= 2 * TRACES_MAX {
            self.shorten();
        }
    }

    /// Their numbers.
    pub(crate) fn numbers(mut self) -> Vec<u128> {
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
    pub(crate) fn on_window(&mut self, window: &Window) {
        self.asked.add(&window.exemplars);
    }

    /// What was told since the last time. A source that fails for the first time is told on the terminal.
    pub(crate) fn take(&mut self, common: &Common) -> Evidence {
        for state in self.collector.states() {
            let Some(trouble) = state.trouble else { continue };
            if !self.told.contains(&state.about.name) {
                let text =
                    format!("no evidence from {} for now: {trouble}; the test goes on", state.about.name);
                common.logger.say(LogLevel::Warn, text);
                self.told.push(state.about.name);
            }
        }
        self.collector.take()
    }

    /// Asks about the whole run, from the first second to now.
    pub(crate) fn finish(self, common: &Common) -> Evidence {
        let names: Vec<String> = self.collector.states().into_iter().map(|state| state.about.name).collect();
        if !common.is_quiet {
            common.logger.tell(&format!("evidence: asking {}", names.join(", ")));
        }
        let traces = self.asked.numbers();
        let evidence = self.collector.finish(self.begun, SystemClock::now(), &traces, PATIENCE);
        let gaps = evidence.gaps.len();
        if gaps > 0 {
            let text = format!("evidence has {gaps} gap(s), the first: {}", describe(&evidence));
            common.logger.say(LogLevel::Warn, text);
        }
        evidence
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
