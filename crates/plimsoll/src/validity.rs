//! Whether a run can be trusted: watched while it runs, judged at its end, and judged again in the same way from its file.

mod seconds;

use std::ops::Range;

use analysis::validity::{ClockAnchor, DropTotals, Facts, Losses, ScenarioKind, Whole, judge};
use engine::RunOutcome;
use model::metric::builtin::{HTTP_REQ_DURATION, ITERATION_DURATION, ITERATION_LATENESS};
use model::plan::{Compat, Plan};
use model::{
    Aggregate, Brief, Clock, DropCause, GeneratorState, Instant, MetricId, MetricKind, RunEvent, SeriesKey,
    SystemClock, Validity, Window,
};
use runfile::{Anchor, Reader};

use crate::failure::Failure;
use crate::stored::{Recording, calibration, cause, failed};

/// Executors that keep one level from start to end.
const CONSTANT: [&str; 2] = ["constant-vus", "constant-arrival-rate"];

/// Watches the generator while a run goes on.
pub(crate) struct Watch {
    sampler: host::Sampler,
    facts: Facts,
    /// Whether each scenario starts iterations by plan.
    is_open: Vec<bool>,
    /// Requests per second in the busiest second.
    busiest_per_s: f64,
    /// What was read last.
    last_state: Option<GeneratorState>,
}

impl Watch {
    /// Begins to watch; nothing is judged before the scenarios begin.
    pub(crate) fn begin(plan: &Plan) -> Watch {
        let kind = |scenario: &model::Scenario| kind(scenario.executor.as_str(), scenario.executor.is_open());
        let scenarios: Vec<ScenarioKind> = plan.scenarios.iter().map(kind).collect();
        let is_open = scenarios.iter().map(|scenario| scenario.is_open).collect();
        let forgets_cut = plan.compat == Compat::Strict;
        let facts = Facts::new(scenarios, forgets_cut, true);
        Watch { sampler: host::Sampler::start(), facts, is_open, busiest_per_s: 0.0, last_state: None }
    }

    /// Takes an event, after `recording` has taken it. What is read about the generator goes to both.
    pub(crate) fn on_event(&mut self, event: &RunEvent, recording: Option<&mut Recording>) {
        match event {
            RunEvent::ScenariosStarted { at } => {
                self.facts.scenarios_started = Some(*at);
                // What the making of the VUs took is not of the run.
                self.sampler.reset();
            }
            RunEvent::ScenariosEnded { at } => self.facts.scenarios_ended = Some(*at),
            RunEvent::Window(window) => {
                self.facts.add_window(window);
                let rate_per_s = calibration::requests_per_s(window).unwrap_or(0.0);
                self.busiest_per_s = self.busiest_per_s.max(rate_per_s);
                let anchor = recording.as_deref().and_then(Recording::last_anchor);
                self.facts.add_anchor(clock_anchor(anchor.unwrap_or_else(look_at_clocks)));
                let state = self.sampler.take();
                self.facts.add_state(&state);
                if let Some(recording) = recording {
                    recording.state(state.clone());
                }
                self.last_state = Some(state);
            }
            _ => {}
        }
    }

    /// Requests per second in the busiest second so far.
    pub(crate) fn busiest_per_s(&self) -> f64 {
        self.busiest_per_s
    }

    /// What was read about the generator with the last window.
    pub(crate) fn last_state(&self) -> Option<&GeneratorState> {
        self.last_state.as_ref()
    }

    /// What the run's numbers are worth so far; `whole` is what they add up to.
    pub(crate) fn judge_so_far(&mut self, whole: Whole) -> Validity {
        self.facts.whole = whole;
        judge(&self.facts)
    }

    /// What the run's numbers are worth.
    pub(crate) fn finish(mut self, outcome: &RunOutcome) -> Validity {
        let of = |metric| outcome.totals.aggregate(metric);
        self.facts.whole = Whole::of(of(ITERATION_LATENESS), of(HTTP_REQ_DURATION), of(ITERATION_DURATION));
        let mut drops = DropTotals::default();
        for (counts, is_open) in outcome.drops.iter().zip(&self.is_open) {
            if *is_open {
                drops.vus_exhausted += counts.vus_exhausted;
                drops.vu_starting += counts.vu_starting;
            }
        }
        self.facts.drops = Some(drops);
        self.facts.losses = Losses { workers: outcome.workers_lost as u64, windows: 0 };
        judge(&self.facts)
    }
}

/// What the numbers of a stored run are worth, or of a part of it that `whole` adds up.
///
/// # Errors
/// The file is damaged.
pub(crate) fn of_stored(
    reader: &Reader,
    whole: &Window,
    part: Option<Range<u32>>,
) -> Result<Validity, Failure> {
    of_stored_beside(reader, whole, part, |_| false, |_, _, _| {})
}

/// The same for somebody who looks at trends of the run, too, so that all of it is read once: those series that `is_wanted`,
/// and those that the rules look at, go to `each` with the index of their window, all of one minute before the next.
///
/// # Errors
/// The file is damaged.
pub(crate) fn of_stored_beside(
    reader: &Reader,
    whole: &Window,
    part: Option<Range<u32>>,
    is_wanted: impl Fn(SeriesKey) -> bool,
    each: impl FnMut(u32, SeriesKey, Brief<'_>),
) -> Result<Validity, Failure> {
    let looked = Looked { part, whole };
    let facts = StoredFacts::read(reader, &looked, |minutes, facts| {
        seconds::add(reader, minutes, facts, is_wanted, each)
    });
    Ok(facts?.judge(whole))
}

/// What is looked at of a run: all of it, or a part and what that adds up to.
struct Looked<'a> {
    part: Option<Range<u32>>,
    whole: &'a Window,
}

impl Looked<'_> {
    fn is_inside(&self, at: Instant) -> bool {
        self.part.is_none() || is_of(self.whole, at)
    }
}

/// Whether what was read about the generator then was read about these windows.
fn is_of(whole: &Window, at: Instant) -> bool {
    whole.start < at && at < whole.end + STATE_DELAY
}

/// What the rules look at of a stored run, or of a part of it.
#[derive(Debug)]
pub(crate) struct StoredFacts(Facts);

impl StoredFacts {
    /// Of all of a run.
    ///
    /// # Errors
    /// The file is damaged.
    pub(crate) fn of_all(reader: &Reader) -> Result<StoredFacts, Failure> {
        let looked = Looked { part: None, whole: &Window::default() };
        StoredFacts::read(reader, &looked, |minutes, facts| seconds::add_in_halves(reader, minutes, facts))
    }

    /// Of a part of a run that `whole` adds up, or of all of it.
    ///
    /// # Errors
    /// The file is damaged.
    pub(crate) fn of(
        reader: &Reader,
        whole: &Window,
        part: Option<Range<u32>>,
    ) -> Result<StoredFacts, Failure> {
        let looked = Looked { part, whole };
        StoredFacts::read(reader, &looked, |minutes, facts| seconds::add_in_halves(reader, minutes, facts))
    }

    /// `add_seconds` reads the windows of the minutes that it is given.
    fn read(
        reader: &Reader,
        looked: &Looked<'_>,
        add_seconds: impl FnOnce(&[Range<u32>], &mut Facts) -> Result<(), Failure>,
    ) -> Result<StoredFacts, Failure> {
        let header = reader.header();
        let scenarios = &header.report.scenarios;
        let kinds = scenarios.iter().map(|scenario| kind(&scenario.executor, scenario.is_open)).collect();
        let mut facts = Facts::new(kinds, header.compat_strict, looked.part.is_none());
        for mark in reader.marks().map_err(|error| failed(&error))? {
            // A merged run has the marks of all its parts, in order of time.
            match mark.kind.as_str() {
                "scenarios_started" if facts.scenarios_started.is_none() => {
                    facts.scenarios_started = Some(mark.at);
                }
                "scenarios_ended" => facts.scenarios_ended = Some(mark.at),
                _ => {}
            }
        }
        let range = match &looked.part {
            Some(range) => range.clone(),
            None => reader.range().map_err(|error| failed(&error))?,
        };
        let minutes = reader.minutes(range).map_err(|error| failed(&error))?;
        add_seconds(&minutes, &mut facts)?;
        let states = reader.generator_states().map_err(|error| failed(&error))?;
        states.iter().filter(|state| looked.is_inside(state.at)).for_each(|state| facts.add_state(state));
        // Machines that made parts of a merged run have clocks of their own.
        if header.merged_from.is_empty() {
            let anchors = reader.anchors().map_err(|error| failed(&error))?;
            anchors.into_iter().filter(|anchor| looked.is_inside(anchor.at)).for_each(|anchor| {
                facts.add_anchor(clock_anchor(anchor));
            });
        }
        if let Some(ending) = reader.ending() {
            facts.losses = Losses { workers: ending.workers_lost, windows: ending.windows_lost };
            facts.drops = Some(stored_drops(ending, &facts.scenarios));
        }
        Ok(StoredFacts(facts))
    }

    /// Those of a part that `whole` adds up, exactly as if that part alone had been read; `None` for runs of days, of which
    /// not everything is kept.
    pub(crate) fn part(&self, whole: &Window, part: &Range<u32>) -> Option<StoredFacts> {
        let facts = &self.0;
        facts.is_complete().then(|| StoredFacts(facts.part(part, |at| is_of(whole, at))))
    }

    /// What the numbers are worth that `whole` adds up.
    pub(crate) fn judge(&self, whole: &Window) -> Validity {
        let [lateness, requests, iterations] =
            [ITERATION_LATENESS, HTTP_REQ_DURATION, ITERATION_DURATION].map(|metric| merged(whole, metric));
        let mut facts = self.0.clone();
        facts.whole = Whole::of(lateness.as_ref(), requests.as_ref(), iterations.as_ref());
        judge(&facts)
    }

    /// Requests per second in the busiest second; `None` for runs of days, of which not everything is kept.
    pub(crate) fn busiest_per_s(&self) -> Option<f64> {
        self.0.is_complete().then(|| self.0.busiest_per_s(calibration::WINDOW_MIN))
    }
}

/// A window is closed, and the generator looked at, at most so long after its end.
pub(crate) const STATE_DELAY: std::time::Duration = std::time::Duration::from_millis(500);

fn stored_drops(ending: &runfile::Ending, scenarios: &[ScenarioKind]) -> DropTotals {
    let mut totals = DropTotals::default();
    for drops in &ending.drops {
        if !scenarios.get(usize::from(drops.scenario)).is_some_and(|scenario| scenario.is_open) {
            continue;
        }
        match cause(&drops.cause) {
            Some(DropCause::VusExhausted) => totals.vus_exhausted += drops.count,
            Some(DropCause::VuStarting) => totals.vu_starting += drops.count,
            Some(DropCause::TimeUp) | None => {}
        }
    }
    totals
}

fn kind(executor: &str, is_open: bool) -> ScenarioKind {
    ScenarioKind { is_open, is_constant: CONSTANT.contains(&executor) }
}

/// All series of a metric, added up.
fn merged(window: &Window, metric: MetricId) -> Option<Aggregate> {
    let mut sum = Aggregate::empty(MetricKind::Trend);
    let series = window.series.iter().filter(|(key, _)| key.metric == metric);
    series.for_each(|(_, aggregate)| sum.merge(aggregate));
    (!sum.is_empty()).then_some(sum)
}

fn look_at_clocks() -> Anchor {
    Anchor { at: SystemClock::now(), wall_unix_ns: SystemClock.wall_unix_ns() }
}

fn clock_anchor(anchor: Anchor) -> ClockAnchor {
    ClockAnchor { at: anchor.at, wall_unix_ns: anchor.wall_unix_ns }
}
