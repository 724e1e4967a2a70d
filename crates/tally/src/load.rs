//! How much work is under way, without looking at a clock.

use model::{Instant, Load, ScenarioId, Work};

/// Counts what one worker thread starts and finishes, and integrates how much is under way.
///
/// The integral of the number under way up to `end` is the sum of all finishes minus the sum of all starts plus `end` for
/// each piece that is still under way. So an event costs two additions, and neither the order of events nor the thread that
/// sees them matters. All sums wrap: what wraps in between is undone at the end.
///
/// A thread that hands over late is integrated up to the end it was asked for, and its part is in the later window that takes
/// it: that window's integral is too large by what the earlier one's is short of. Something handled after the window's end
/// but before the hand-over is counted in the window, like its samples; its time is put right in the next one. Over all
/// windows of a run nothing is lost or counted twice: the integral is the sum of all durations, to the nanosecond.
#[derive(Debug)]
pub struct LoadMeter {
    /// By scenario, shifted by one: first comes what belongs to none.
    rows: Vec<[Row; WORKS.len()]>,
}

const WORKS: [Work; 2] = [Work::Iterations, Work::Requests];

#[derive(Debug, Default)]
struct Row {
    started: u64,
    finished: u64,
    /// Under way when the last window was taken.
    under_way: u64,
    /// Finishes − starts − what was handed over, in nanoseconds; wraps.
    balance_ns: u64,
}

impl LoadMeter {
    /// For a plan of so many scenarios.
    pub fn new(scenarios: usize) -> LoadMeter {
        LoadMeter { rows: std::iter::repeat_with(Default::default).take(1 + scenarios).collect() }
    }

    /// A piece of work starts. `scenario` is one of the plan's, or none for `setup()` and `teardown()`.
    #[inline]
    pub fn start(&mut self, scenario: Option<ScenarioId>, work: Work, at: Instant) {
        let row = self.row(scenario, work);
        row.started += 1;
        row.balance_ns = row.balance_ns.wrapping_sub(at.as_ns());
    }

    /// A piece of work that was started is over, in whichever way.
    #[inline]
    pub fn finish(&mut self, scenario: Option<ScenarioId>, work: Work, at: Instant) {
        let row = self.row(scenario, work);
        row.finished += 1;
        row.balance_ns = row.balance_ns.wrapping_add(at.as_ns());
    }

    /// Takes the load since the last call, integrated up to `end`; only of scenarios that had any.
    pub fn take(&mut self, end: Instant) -> Vec<Load> {
        let mut loads = Vec::new();
        for (index, rows) in self.rows.iter_mut().enumerate() {
            let scenario = index.checked_sub(1).map(|index| ScenarioId(index as u16));
            for (work, row) in WORKS.into_iter().zip(rows) {
                loads.extend(row.take(scenario, work, end));
            }
        }
        loads
    }

    #[inline]
    fn row(&mut self, scenario: Option<ScenarioId>, work: Work) -> &mut Row {
        let index = scenario.map_or(0, |scenario| usize::from(scenario.0) + 1);
        &mut self.rows[index][work as usize]
    }
}

impl Row {
    fn take(&mut self, scenario: Option<ScenarioId>, work: Work, end: Instant) -> Option<Load> {
        let (started, finished) = (std::mem::take(&mut self.started), std::mem::take(&mut self.finished));
        self.under_way = (self.under_way + started).saturating_sub(finished);
        let open_ns = self.under_way.wrapping_mul(end.as_ns());
        // Below zero where more time lies behind `end` than before it: then that is for the next window to make good.
        let in_flight_ns = u64::try_from(self.balance_ns.wrapping_add(open_ns) as i64).unwrap_or(0);
        self.balance_ns = self.balance_ns.wrapping_sub(in_flight_ns);
        let had_any = started > 0 || finished > 0 || in_flight_ns > 0;
        had_any.then_some(Load { scenario, work, started, finished, in_flight_ns })
    }
}

/// Adds the load of one thread to that of others.
pub(crate) fn merge(into: &mut Vec<Load>, part: Vec<Load>) {
    for load in part {
        match into.iter_mut().find(|known| (known.scenario, known.work) == (load.scenario, load.work)) {
            Some(known) => {
                known.started += load.started;
                known.finished += load.finished;
                known.in_flight_ns += load.in_flight_ns;
            }
            None => into.push(load),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(ns: u64) -> Instant {
        Instant::from_ns(ns)
    }

    /// Started, finished, integral of each window.
    fn windows(meter: &mut LoadMeter, events: &[(u64, bool)], ends: &[u64]) -> Vec<(u64, u64, u64)> {
        let mut events = events.iter().peekable();
        let mut taken = Vec::new();
        for &end in ends {
            while let Some((ns, starts)) = events.next_if(|event| event.0 < end) {
                if *starts {
                    meter.start(None, Work::Requests, at(*ns));
                } else {
                    meter.finish(None, Work::Requests, at(*ns));
                }
            }
            let load = meter.take(at(end));
            taken.push(load.first().map_or((0, 0, 0), |l| (l.started, l.finished, l.in_flight_ns)));
        }
        taken
    }

    #[test]
    fn work_is_split_at_the_ends_of_windows() {
        let check = |events: &[(u64, bool)], expect: &[(u64, u64, u64)]| {
            let found = windows(&mut LoadMeter::new(0), events, &[100, 200, 300]);
            assert_eq!(found, expect, "{events:?}");
        };
        check(&[], &[(0, 0, 0); 3]);
        check(&[(10, true), (30, false)], &[(1, 1, 20), (0, 0, 0), (0, 0, 0)]);
        check(&[(90, true), (210, false)], &[(1, 0, 10), (0, 0, 100), (0, 1, 10)]);
        check(&[(50, true), (60, true), (110, false), (120, false)], &[(2, 0, 90), (0, 2, 30), (0, 0, 0)]);
        check(&[(199, true)], &[(0, 0, 0), (1, 0, 1), (0, 0, 100)]);
    }

    #[test]
    fn what_is_handled_after_the_end_is_made_good_in_the_next_window() {
        let mut meter = LoadMeter::new(0);
        meter.start(None, Work::Requests, at(110));
        let first = meter.take(at(100));
        assert_eq!((first[0].started, first[0].in_flight_ns), (1, 0));
        meter.finish(None, Work::Requests, at(130));
        let second = meter.take(at(200));
        assert_eq!((second[0].finished, second[0].in_flight_ns), (1, 20));
        assert_eq!(meter.take(at(300)), []);
    }

    #[test]
    fn scenarios_and_kinds_of_work_are_apart() {
        let mut meter = LoadMeter::new(2);
        let second = Some(ScenarioId(1));
        meter.start(second, Work::Requests, at(1));
        meter.start(second, Work::Iterations, at(0));
        meter.start(None, Work::Requests, at(5));
        let load =
            |scenario, work, in_flight_ns| Load { scenario, work, started: 1, finished: 0, in_flight_ns };
        let expect = [
            load(None, Work::Requests, 5),
            load(second, Work::Iterations, 10),
            load(second, Work::Requests, 9),
        ];
        assert_eq!(meter.take(at(10)), expect);
    }

    proptest! {
        #[test]
        fn the_integral_is_the_sum_of_durations(
            spans in prop::collection::vec((0u64..1000, 0u64..1000, 0usize..3), 0..40),
        ) {
            let mut meters: Vec<_> = (0..3).map(|_| LoadMeter::new(0)).collect();
            let mut merged = Vec::new();
            for end in [300, 700, 1000, 2000] {
                for (start, length, thread) in &spans {
                    // Handled up to fifty nanoseconds late, so that some lie behind the end of their window.
                    let is_now = |ns: u64| (end == 300 || ns >= previous(end) + 50) && ns < end + 50;
                    if is_now(*start) {
                        meters[*thread].start(None, Work::Requests, at(*start));
                    }
                    if is_now(start + length) {
                        meters[*thread].finish(None, Work::Requests, at(start + length));
                    }
                }
                meters.iter_mut().for_each(|meter| merge(&mut merged, meter.take(at(end))));
            }
            let total = merged.first().map_or((0, 0, 0), |l| (l.started, l.finished, l.in_flight_ns));
            let count = spans.len() as u64;
            prop_assert_eq!(total, (count, count, spans.iter().map(|span| span.1).sum()));
        }
    }

    fn previous(end: u64) -> u64 {
        match end {
            700 => 300,
            1000 => 700,
            _ => 1000,
        }
    }
}
