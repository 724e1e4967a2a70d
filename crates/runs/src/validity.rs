//! Validity of a run: the same rules while it runs, at its end, and when read from its file.

mod seconds;

use std::ops::Range;

use analysis::validity::{ClockAnchor, DropTotals, Facts, Losses, ScenarioKind, Whole, judge};
use model::metric::builtin::{HTTP_REQ_DURATION, ITERATION_DURATION, ITERATION_LATENESS};
use model::{Aggregate, Brief, DropCause, Instant, MetricId, MetricKind, SeriesKey, Validity, Window};
use runfile::{Anchor, Reader};

use crate::Failure;
use crate::{calibration, drop_cause, failed};

/// Executors with a constant load.
const CONSTANT: [&str; 2] = ["constant-vus", "constant-arrival-rate"];

/// Judges the validity of a stored run, or of a part of it that `whole` sums up.
///
/// # Errors
/// The file is damaged.
pub fn of_stored(reader: &Reader, whole: &Window, part: Option<Range<u32>>) -> Result<Validity, Failure> {
    of_stored_beside(reader, whole, part, |_| false, |_, _, _| {})
}

/// Judges validity and passes trends of the run on, so that the run is read only once. `each` receives the series that `is_wanted`
/// selects and those that the rules read, with the index of their window, minute by minute.
///
/// # Errors
/// The file is damaged.
pub fn of_stored_beside(
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

/// The judged part of a run: all of it, or a range and its sum.
struct Looked<'a> {
    part: Option<Range<u32>>,
    whole: &'a Window,
}

impl Looked<'_> {
    fn is_inside(&self, at: Instant) -> bool {
        self.part.is_none() || is_of(self.whole, at)
    }
}

/// Returns true if a reading of the generator at this time belongs to these windows.
fn is_of(whole: &Window, at: Instant) -> bool {
    whole.start < at && at < whole.end + STATE_DELAY
}

/// The inputs of the rules for a stored run, or for a part of it.
#[derive(Debug)]
pub struct StoredFacts(Facts);

impl StoredFacts {
    /// Reads the facts of a whole run.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn of_all(reader: &Reader) -> Result<StoredFacts, Failure> {
        let looked = Looked { part: None, whole: &Window::default() };
        StoredFacts::read(reader, &looked, |minutes, facts| seconds::add_in_halves(reader, minutes, facts))
    }

    /// Reads the facts of a part of a run that `whole` sums up, or of the whole run.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn read_part(
        reader: &Reader,
        whole: &Window,
        part: Option<Range<u32>>,
    ) -> Result<StoredFacts, Failure> {
        let looked = Looked { part, whole };
        StoredFacts::read(reader, &looked, |minutes, facts| seconds::add_in_halves(reader, minutes, facts))
    }

    /// Reads the facts; `add_seconds` reads the windows of the minutes that it is given.
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
            // A merged run has the marks of all its parts, by time.
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
        for state in states.iter().filter(|state| looked.is_inside(state.at)) {
            match header.agents.is_empty() {
                true => facts.add_state(state),
                false => facts.add_state_of_agent(state),
            }
        }
        // Machines that made parts of a merged run have separate clocks.
        if header.merged_from.is_empty() {
            let anchors = reader.anchors().map_err(|error| failed(&error))?;
            anchors.into_iter().filter(|anchor| looked.is_inside(anchor.at)).for_each(|anchor| {
                facts.add_anchor(clock_anchor(anchor));
            });
        }
        if let Some(ending) = reader.ending() {
            facts.losses = Losses {
                workers: ending.workers_lost,
                windows: ending.windows_lost,
                agents: ending.agents_lost,
            };
            facts.drops = Some(stored_drops(ending, &facts.scenarios));
        }
        Ok(StoredFacts(facts))
    }

    /// Returns the facts of a part that `whole` sums up, exactly as if only that part had been read. Returns `None` for runs of
    /// days, whose seconds are not all kept.
    pub fn part(&self, whole: &Window, part: &Range<u32>) -> Option<StoredFacts> {
        let facts = &self.0;
        facts.is_complete().then(|| StoredFacts(facts.part(part, |at| is_of(whole, at))))
    }

    /// Judges the validity of the numbers that `whole` sums up.
    pub fn judge(&self, whole: &Window) -> Validity {
        let [lateness, requests, iterations] =
            [ITERATION_LATENESS, HTTP_REQ_DURATION, ITERATION_DURATION].map(|metric| merged(whole, metric));
        let mut facts = self.0.clone();
        facts.whole = Whole::new(lateness.as_ref(), requests.as_ref(), iterations.as_ref());
        judge(&facts)
    }

    /// Returns the requests per second in the busiest second; `None` for runs of days, whose seconds are not all kept.
    pub fn busiest_per_s(&self) -> Option<f64> {
        self.0.is_complete().then(|| self.0.busiest_per_s(calibration::WINDOW_MIN))
    }
}

/// Maximum delay between the end of a window and the reading of the generator's state.
pub const STATE_DELAY: std::time::Duration = std::time::Duration::from_millis(500);

fn stored_drops(ending: &runfile::Ending, scenarios: &[ScenarioKind]) -> DropTotals {
    let mut totals = DropTotals::default();
    for drops in &ending.drops {
        if !scenarios.get(usize::from(drops.scenario)).is_some_and(|scenario| scenario.is_open) {
            continue;
        }
        match drop_cause(&drops.cause) {
            Some(DropCause::VusExhausted) => totals.vus_exhausted += drops.count,
            Some(DropCause::VuStarting) => totals.vu_starting += drops.count,
            Some(DropCause::AgentLost) => totals.agent_lost += drops.count,
            Some(DropCause::TimeUp) | None => {}
        }
    }
    totals
}

/// Returns the kind of a scenario, as the rules of validity define it.
pub fn kind(executor: &str, is_open: bool) -> ScenarioKind {
    ScenarioKind { is_open, is_constant: CONSTANT.contains(&executor) }
}

/// Adds up all series of a metric.
fn merged(window: &Window, metric: MetricId) -> Option<Aggregate> {
    let mut sum = Aggregate::empty(MetricKind::Trend);
    let series = window.series.iter().filter(|(key, _)| key.metric == metric);
    series.for_each(|(_, aggregate)| sum.merge(aggregate));
    (!sum.is_empty()).then_some(sum)
}

/// Converts a reading of both clocks at one instant for the rules of validity.
pub fn clock_anchor(anchor: Anchor) -> ClockAnchor {
    ClockAnchor { at: anchor.at, wall_unix_ns: anchor.wall_unix_ns }
}
