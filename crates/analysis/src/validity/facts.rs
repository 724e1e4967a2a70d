//! The facts on a run's measurement, gathered window by window while it runs or when it is read back.

use std::ops::Range;
use std::time::Duration;

use model::{Aggregate, GeneratorState, Instant, Quantile, Window};

use super::pulse::Pulse;
use super::second::{Second, TrendFacts};

/// Windows that are looked at: two days of them. What comes after is not judged, and the rule of coverage says so.
const WINDOWS_MAX: usize = 2 * 86_400;

/// Readings of different machines that are no further apart belong to the same second.
const SAME_TIME: Duration = Duration::from_millis(250);

/// How a scenario starts its iterations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScenarioKind {
    /// By plan, and not when the one before is done.
    pub is_open: bool,
    /// At one level from start to end.
    pub is_constant: bool,
}

/// Both clocks at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockAnchor {
    /// The monotonic clock.
    pub at: Instant,
    /// The wall clock, nanoseconds since the Unix epoch.
    pub wall_unix_ns: i64,
}

/// Iterations of open scenarios that were due and never started, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DropTotals {
    /// Every VU was busy and no more were allowed.
    pub vus_exhausted: u64,
    /// Every VU was busy while one more was being made.
    pub vu_starting: u64,
    /// The agent that was to start them was lost.
    pub agent_lost: u64,
}

/// Lost data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// Worker threads whose last samples are lost.
    pub workers: u64,
    /// Windows that are not in the run's file.
    pub windows: u64,
    /// Agents that were lost while the scenarios ran.
    pub agents: u64,
}

/// Numbers of the whole run, the same that its summary shows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Whole {
    /// The 99th percentile of how late iterations started, milliseconds.
    pub lateness_p99_ms: Option<f64>,
    /// The median duration of requests, else of iterations, milliseconds.
    pub typical_ms: Option<f64>,
}

impl Whole {
    /// From what the whole run adds up to: the lateness of iterations, the duration of requests, that of iterations.
    pub fn new(
        lateness: Option<&Aggregate>,
        requests: Option<&Aggregate>,
        iterations: Option<&Aggregate>,
    ) -> Whole {
        Whole {
            lateness_p99_ms: quantile(lateness, 0.99),
            typical_ms: quantile(requests, 0.5).or_else(|| quantile(iterations, 0.5)),
        }
    }
}

fn quantile(aggregate: Option<&Aggregate>, q: f64) -> Option<f64> {
    let Some(Aggregate::Trend(trend)) = aggregate else { return None };
    match trend.quantile(q) {
        Quantile::Value(value) | Quantile::AtLeast { bound: value, .. } => Some(value),
        Quantile::None | Quantile::Failed => None,
    }
}

/// Everything that the rules look at.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// How the scenarios start their iterations.
    pub scenarios: Vec<ScenarioKind>,
    /// When the scenarios began; nothing is judged of a run in which they never did.
    pub scenarios_started: Option<Instant>,
    /// When they ended; `None` while they run, and where it was not recorded.
    pub scenarios_ended: Option<Instant>,
    /// Numbers of the whole run.
    pub whole: Whole,
    /// Drops by cause; `None` where the record has no ending.
    pub drops: Option<DropTotals>,
    /// Lost data.
    pub losses: Losses,
    /// Whether requests are forgotten that were cut off on their way, as k6 does.
    pub forgets_cut: bool,
    /// Whether these are all windows of the run, and not a selected part.
    pub is_whole: bool,
    seconds: Vec<Second>,
    pulses: Vec<(Instant, Pulse)>,
    anchors: Vec<ClockAnchor>,
}

impl Facts {
    /// Of a run with these scenarios, of which nothing has been seen.
    pub fn new(scenarios: Vec<ScenarioKind>, forgets_cut: bool, is_whole: bool) -> Facts {
        Facts { scenarios, forgets_cut, is_whole, ..Facts::default() }
    }

    /// Adds a window. They come in order.
    pub fn add_window(&mut self, window: &Window) {
        if self.seconds.len() < WINDOWS_MAX {
            self.seconds.push(Second::new(window));
        }
    }

    /// The same for a window whose trends were handed over in brief.
    pub fn add_window_in_brief(&mut self, window: &Window, facts: &TrendFacts) {
        if self.seconds.len() < WINDOWS_MAX {
            let mut second = Second::new(window);
            second.add_trends(facts);
            self.seconds.push(second);
        }
    }

    /// Adds the windows that others have, which are all later.
    pub fn append_windows(&mut self, later: Facts) {
        let room = WINDOWS_MAX.saturating_sub(self.seconds.len());
        self.seconds.extend(later.seconds.into_iter().take(room));
    }

    /// Adds what was read about the generator when a window came.
    pub fn add_state(&mut self, state: &GeneratorState) {
        if self.pulses.len() < WINDOWS_MAX {
            self.pulses.push((state.at, Pulse::new(state)));
        }
    }

    /// The same for one of several machines. Their readings at the same time are one: the worst. A single machine's last second may be
    /// short, and its reading is none of the second before.
    pub fn add_state_of_agent(&mut self, state: &GeneratorState) {
        if let Some((at, known)) = self.pulses.last_mut()
            && apart(*at, state.at) < SAME_TIME
        {
            *known = known.worst_of(Pulse::new(state));
            return;
        }
        self.add_state(state);
    }

    /// Adds a look at both clocks. They come in order.
    pub fn add_anchor(&mut self, anchor: ClockAnchor) {
        if self.anchors.len() < WINDOWS_MAX {
            self.anchors.push(anchor);
        }
    }

    /// Whether everything that was added is kept, so that a part of it is all that there is of that part.
    pub fn is_complete(&self) -> bool {
        [self.seconds.len(), self.pulses.len(), self.anchors.len()].iter().all(|count| *count < WINDOWS_MAX)
    }

    /// The facts of a part: these windows, and the values read when `is_inside` says so. The numbers of the whole are those
    /// of another range now, and are to be given anew.
    pub fn part(&self, windows: &Range<u32>, is_inside: impl Fn(Instant) -> bool) -> Facts {
        let seconds = self.seconds.iter().filter(|second| windows.contains(&second.index));
        Facts {
            scenarios: self.scenarios.clone(),
            scenarios_started: self.scenarios_started,
            scenarios_ended: self.scenarios_ended,
            whole: Whole::default(),
            drops: self.drops,
            losses: self.losses,
            forgets_cut: self.forgets_cut,
            is_whole: false,
            seconds: seconds.cloned().collect(),
            pulses: self.pulses.iter().filter(|(at, _)| is_inside(*at)).copied().collect(),
            anchors: self.anchors.iter().filter(|anchor| is_inside(anchor.at)).copied().collect(),
        }
    }

    /// Whether these are all windows of a run whose scenarios have ended: only then is every request that was sent recorded, too.
    /// A request under way has no duration yet.
    pub fn is_over(&self) -> bool {
        self.is_whole && self.scenarios_ended.is_some()
    }

    /// Requests per second in the busiest of the windows that are at least so long.
    pub fn busiest_per_s(&self, length_min: Duration) -> f64 {
        let is_second = |second: &&Second| second.end.since(second.start) >= length_min;
        let rate = |second: &Second| second.requests_recorded as f64 / second.length_s();
        self.seconds.iter().filter(is_second).map(rate).fold(0.0, f64::max)
    }

    /// The windows, each with the generator's state that was read when it came.
    pub(super) fn seconds(&self) -> Vec<Second> {
        let mut seconds = self.seconds.clone();
        let mut pulses = self.pulses.clone();
        pulses.sort_by_key(|(at, _)| *at);
        let mut place = 0;
        for (at, pulse) in pulses {
            // The window whose end is nearest: states are read within a moment of it.
            while seconds
                .get(place + 1)
                .is_some_and(|next| apart(next.end, at) <= apart(seconds[place].end, at))
            {
                place += 1;
            }
            if let Some(second) = seconds.get_mut(place) {
                second.pulse = second.pulse.worst_of(pulse);
            }
        }
        seconds
    }

    pub(super) fn anchors(&self) -> &[ClockAnchor] {
        &self.anchors
    }
}

fn apart(a: Instant, b: Instant) -> Duration {
    a.since(b).max(b.since(a))
}

#[cfg(test)]
mod tests {
    use model::{Reading, Vital};

    use super::*;

    /// A run of so many seconds, and what was read at the end of each.
    fn seconds(count: u32) -> Facts {
        let at = |second: u32| Instant::from_ns(u64::from(second) * 1_000_000_000);
        let mut facts = Facts::new(Vec::new(), false, true);
        for index in 0..count {
            let (start, end) = (at(index), at(index + 1));
            facts.add_window(&Window { index, start, end, ..Window::default() });
            let reading = Reading { vital: Vital::TimerLag, worker: None, value: f64::from(index) };
            facts.add_state(&GeneratorState { at: end, readings: vec![reading] });
            facts.add_anchor(ClockAnchor { at: end, wall_unix_ns: 0 });
        }
        facts
    }

    #[test]
    fn a_part_is_what_was_added_of_it() {
        let whole = seconds(9);
        let end = |second: u64| Instant::from_ns(second * 1_000_000_000);
        let part = whole.part(&(3..6), |at| end(3) < at && at <= end(6));
        let shown: Vec<_> =
            part.seconds().iter().map(|second| (second.index, second.pulse.timer_lag_ms)).collect();
        assert_eq!(shown, [(3, Some(3.0)), (4, Some(4.0)), (5, Some(5.0))]);
        assert_eq!((part.anchors().len(), part.is_whole, whole.is_complete()), (3, false, true));
        assert!(whole.part(&(20..30), |_| false).seconds().is_empty());
    }

    #[test]
    fn windows_of_two_halves_are_those_of_the_whole() {
        let whole = seconds(9);
        let half = |windows: Range<u32>| whole.part(&windows, |_| true);
        let mut both = half(0..4);
        both.append_windows(half(4..9));
        assert_eq!(both.seconds(), whole.seconds());
    }

    #[test]
    fn a_state_belongs_to_the_window_that_ended_when_it_was_read() {
        let at = |ms: u64| Instant::from_ns(ms * 1_000_000);
        let mut facts = Facts::default();
        for index in 0..3u32 {
            let start = u64::from(index) * 1_000;
            facts.add_window(&Window {
                index,
                start: at(start),
                end: at(start + 1_000),
                ..Window::default()
            });
        }
        let state = |ms, value| GeneratorState {
            at: at(ms),
            readings: vec![Reading { vital: Vital::TimerLag, worker: None, value }],
        };
        facts.add_state(&state(3_050, 3.0));
        facts.add_state(&state(1_100, 1.0));
        facts.add_state(&state(1_090, 2.0));
        let lags: Vec<_> = facts.seconds().iter().map(|second| second.pulse.timer_lag_ms).collect();
        assert_eq!(lags, [Some(2.0), None, Some(3.0)]);
    }

    /// A reading over a few milliseconds says nothing of the second before.
    #[test]
    fn a_short_last_second_of_one_machine_is_a_reading_of_its_own() {
        let state = |ms: u64, value| GeneratorState {
            at: Instant::from_ns(ms * 1_000_000),
            readings: vec![Reading { vital: Vital::TimerLag, worker: None, value }],
        };
        let mut facts = Facts::new(Vec::new(), false, true);
        [(1_000, 1.0), (2_000, 2.0), (2_020, 70.0)]
            .iter()
            .for_each(|(ms, value)| facts.add_state(&state(*ms, *value)));
        let lags: Vec<Option<f64>> = facts.pulses.iter().map(|(_, pulse)| pulse.timer_lag_ms).collect();
        assert_eq!(lags, [Some(1.0), Some(2.0), Some(70.0)]);
    }

    /// A thousand machines are one reading a second, and a bad one among them counts.
    #[test]
    fn readings_of_several_machines_are_the_worst_of_them() {
        let state = |ms: u64, value| GeneratorState {
            at: Instant::from_ns(ms * 1_000_000),
            readings: vec![Reading { vital: Vital::TimerLag, worker: None, value }],
        };
        let mut facts = Facts::new(Vec::new(), false, true);
        for (ms, value) in [(1_000, 1.0), (1_020, 70.0), (1_100, 2.0), (2_010, 3.0)] {
            facts.add_state_of_agent(&state(ms, value));
        }
        let worst: Vec<Option<f64>> = facts.pulses.iter().map(|(_, pulse)| pulse.timer_lag_ms).collect();
        assert_eq!(worst, [Some(70.0), Some(3.0)]);
    }
}
