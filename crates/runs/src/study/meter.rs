//! The measurements of a level, second by second, for live and stored runs.

use analysis::capacity::sight::{Rule, Sight, WEIGHT_FULL};
use histo::Values;
use model::metric::builtin::{DROPPED_ITERATIONS, HTTP_REQ_DURATION, HTTP_REQ_FAILED, ITERATION_DURATION};
use model::{
    Aggregate, Instant, Mark, MetricId, MetricKind, MetricRegistry, Quantile, SeriesKey, TagInterner, Window,
    Work,
};

use super::objective::{Asked, Held, above};
use crate::Failure;

/// Tolerance, seconds, by which a window may end after the scenarios: the event that ends them is delayed by thread scheduling.
const SLACK_S: f64 = 0.1;

/// Minimum length of a window, seconds: the last window of a run may be shorter.
const WINDOW_S_MIN: f64 = 0.5;

/// The shortest and the longest time that a level waits for requests after its load has ended, in seconds. More would make a search
/// wait for a target that hangs.
const PATIENCE_S_MIN: f64 = 3.0;
const PATIENCE_S_MAX: f64 = 30.0;

/// An objective is far from its limit up to this share of it.
const FAR_MAX: f64 = 0.5;

/// The quantile that compares levels without an objective on a time.
const QUANTILE: f64 = 0.95;

/// Metrics that are read whatever the objectives are.
const ALWAYS: [MetricId; 4] = [DROPPED_ITERATIONS, HTTP_REQ_DURATION, HTTP_REQ_FAILED, ITERATION_DURATION];

/// A sum of the seconds of one level.
pub struct Meter {
    objectives: Vec<Metered>,
    warm_up_s: f64,
    planned_s: f64,
    zero: Option<Instant>,
    /// Total length of the seconds that count.
    measured_s: f64,
    first: Option<Instant>,
    last: Option<Instant>,
    iterations: u64,
    requests: u64,
    in_flight_ns: u64,
    durations: Aggregate,
    failed: Aggregate,
    iteration_durations: Aggregate,
    /// The time after which a request that was cut off counts as failed.
    patience_ms: f64,
    /// Requests that were in progress when the load ended and never finished.
    abandoned: f64,
}

/// An objective and its observations.
struct Metered {
    asked: Asked,
    /// The objective with its metric, once the metric is known.
    held: Option<Held>,
    sum: Option<Aggregate>,
    seconds: Vec<(f64, f64)>,
    /// Requests that the target kept beyond the end of the load, and longer than the objective allows, as the rule counts a second.
    abandoned: (f64, f64),
}

/// The measurements of a level.
#[derive(Clone, Debug)]
pub struct Measurement {
    pub sights: Vec<Sight>,
    pub throughput_per_s: f64,
    pub requests_per_s: f64,
    /// Mean number of iterations in progress.
    pub busy_vus: f64,
    pub time_s: Option<f64>,
    pub mean_s: Option<f64>,
    pub failed_share: Option<f64>,
    pub measured_s: f64,
    /// The start and end of the measured time.
    pub span: Option<std::ops::Range<Instant>>,
}

impl Meter {
    /// Returns a meter that ignores seconds before `warm_up_s` and after `planned_s`, both from the start of the scenarios.
    pub fn new(asked: &[Asked], warm_up_s: f64, planned_s: f64) -> Meter {
        let metered = |asked: &Asked| Metered {
            asked: asked.clone(),
            held: None,
            sum: None,
            seconds: Vec::new(),
            abandoned: (0.0, 0.0),
        };
        Meter {
            objectives: asked.iter().map(metered).collect(),
            warm_up_s,
            planned_s,
            zero: None,
            measured_s: 0.0,
            first: None,
            last: None,
            iterations: 0,
            requests: 0,
            in_flight_ns: 0,
            durations: Aggregate::empty(MetricKind::Trend),
            failed: Aggregate::empty(MetricKind::Rate),
            iteration_durations: Aggregate::empty(MetricKind::Trend),
            patience_ms: patience_s(asked) * 1e3,
            abandoned: 0.0,
        }
    }

    /// Marks the start of the scenarios.
    pub fn begin(&mut self, at: Instant) {
        self.zero.get_or_insert(at);
    }

    /// Returns the metrics that the meter reads, as far as they are known.
    pub fn metrics(&self, metrics: &MetricRegistry) -> Vec<MetricId> {
        let asked = self.objectives.iter().filter_map(|it| metrics.find(&it.asked.selector.metric));
        ALWAYS.into_iter().chain(asked.map(|metric| metric.id)).collect()
    }

    /// Adds a second; ignores one that does not count.
    ///
    /// # Errors
    /// A condition does not fit the metric that its name turns out to be.
    pub fn add(
        &mut self,
        window: &Window,
        metrics: &MetricRegistry,
        tags: &TagInterner,
    ) -> Result<(), Failure> {
        if !self.counts(window) {
            self.add_abandoned(window, tags);
            return Ok(());
        }
        let length_s = (window.end.since(window.start)).as_secs_f64();
        self.measured_s += length_s;
        self.first.get_or_insert(window.start);
        self.last = Some(window.end);
        for load in window.load.iter().filter(|load| load.scenario.is_some()) {
            match load.work {
                Work::Iterations => {
                    self.iterations += load.finished;
                    self.in_flight_ns += load.in_flight_ns;
                }
                Work::Requests => self.requests += load.finished,
            }
        }
        let mut dropped = 0.0;
        for (key, aggregate) in &window.series {
            match (key.metric, aggregate) {
                (HTTP_REQ_DURATION, _) => self.durations.merge(aggregate),
                (HTTP_REQ_FAILED, _) => self.failed.merge(aggregate),
                (ITERATION_DURATION, _) => self.iteration_durations.merge(aggregate),
                (DROPPED_ITERATIONS, Aggregate::Counter(counter)) => dropped += counter.sum.value(),
                _ => {}
            }
        }
        self.objectives.iter_mut().try_for_each(|it| it.add(window, metrics, tags, length_s, dropped))
    }

    /// Adds what was in progress when the load ended and never finished, from a window after that. It is in no second that counts,
    /// and the slower the target, the more of it there is: without it, requests that hang would be in no objective at all.
    fn add_abandoned(&mut self, window: &Window, tags: &TagInterner) {
        let Some(zero) = self.zero else { return };
        let after_ms = window.start.ms_since(zero) - self.planned_s * 1e3;
        let ends_s = window.end.ms_since(zero) / 1e3;
        if self.measured_s <= 0.0 || ends_s <= self.planned_s - SLACK_S {
            return;
        }
        let least_ms = after_ms.max(0.0);
        let patience_ms = self.patience_ms.max(least_ms);
        let after = AfterLoad { least_ms, patience_ms, seen_ms: self.planned_s * 1e3 };
        let failed = AfterLoad { seen_ms: f64::INFINITY, ..after };
        for (_, aggregate) in window.series.iter().filter(|(key, _)| key.metric == HTTP_REQ_DURATION) {
            self.abandoned += failed.left_over(aggregate).iter().map(|left| left.2 as f64).sum::<f64>();
        }
        self.objectives.iter_mut().for_each(|it| it.add_abandoned(window, tags, &after));
    }

    /// Returns the observations of the objectives so far.
    pub fn sights(&self) -> Vec<Sight> {
        self.objectives.iter().map(|it| it.sight(self.measured_s)).collect()
    }

    /// Returns true if all objectives are far from their limits: no request broke one, and no time is above half of what is allowed.
    pub fn is_far(&self) -> bool {
        !self.objectives.is_empty() && self.objectives.iter().all(|it| it.is_far(self.measured_s))
    }

    /// Returns the length of the counted seconds so far.
    pub fn measured_s(&self) -> f64 {
        self.measured_s
    }

    /// Returns the objectives as the answer contains them.
    pub fn nouns(&self) -> Vec<model::capacity::Objective> {
        self.objectives.iter().map(|it| it.asked.noun(it.held.as_ref())).collect()
    }

    /// Returns the objectives whose metrics are known, in their order.
    pub fn held(&self) -> impl Iterator<Item = Option<&Held>> {
        self.objectives.iter().map(|it| it.held.as_ref())
    }

    /// Returns the complete measurement.
    pub fn finish(&self) -> Measurement {
        let per_s = |count: u64| count as f64 / self.measured_s.max(f64::MIN_POSITIVE);
        let mean_s = match &self.iteration_durations {
            Aggregate::Trend(trend) => trend.avg().map(|ms| ms / 1e3),
            _ => None,
        };
        let failed_share = match &self.failed {
            Aggregate::Rate(rate) => {
                let (failed, all) = (rate.passes as f64 + self.abandoned, rate.total as f64 + self.abandoned);
                (all > 0.0).then(|| failed / all)
            }
            _ => None,
        };
        Measurement {
            sights: self.sights(),
            throughput_per_s: per_s(self.iterations),
            requests_per_s: per_s(self.requests),
            busy_vus: per_s(self.in_flight_ns) / 1e9,
            time_s: self.time_ms().map(|ms| ms / 1e3),
            mean_s,
            failed_share,
            measured_s: self.measured_s,
            span: self.first.zip(self.last).map(|(first, last)| first..last),
        }
    }

    /// Returns the statistic of the first objective on a time, ms; without one the 95th percentile of requests.
    fn time_ms(&self) -> Option<f64> {
        let is_time = |it: &&Metered| it.held.as_ref().is_some_and(Held::is_time);
        if let Some(objective) = self.objectives.iter().find(is_time) {
            return objective.value(self.measured_s);
        }
        match &self.durations {
            Aggregate::Trend(trend) => number(trend.quantile(QUANTILE)),
            _ => None,
        }
    }

    pub(super) fn counts(&self, window: &Window) -> bool {
        let Some(zero) = self.zero else { return false };
        let since_zero = |at: Instant| at.as_ns() as f64 / 1e9 - zero.as_ns() as f64 / 1e9;
        let (start, end) = (since_zero(window.start), since_zero(window.end));
        end - start >= WINDOW_S_MIN && start >= self.warm_up_s - SLACK_S && end <= self.planned_s + SLACK_S
    }
}

impl Metered {
    fn add(
        &mut self,
        window: &Window,
        metrics: &MetricRegistry,
        tags: &TagInterner,
        length_s: f64,
        dropped: f64,
    ) -> Result<(), Failure> {
        if self.held.is_none() {
            self.held = self.asked.held(metrics)?;
        }
        let Some(held) = &self.held else { return Ok(()) };
        let mut second = Aggregate::empty(held.kind);
        for (key, aggregate) in window.series.iter().filter(|(key, _)| key.metric == held.metric) {
            if held.selector.filter.is_empty() || held.selector.matches(&tags.get(key.tags)) {
                second.merge(aggregate);
            }
        }
        let (against, all) = held.second(&second, length_s);
        // A dropped iteration would have waited for the target like the others, with no known end.
        let lost = if held.is_time() && matches!(held.rule(), Rule::Share { .. }) { dropped } else { 0.0 };
        self.seconds.push((against + lost, all + lost));
        match &mut self.sum {
            Some(sum) => sum.merge(&second),
            None => self.sum = Some(second),
        }
        Ok(())
    }

    fn add_abandoned(&mut self, window: &Window, tags: &TagInterner, after: &AfterLoad) {
        let Some(held) = &self.held else { return };
        // A request that was cut off is a failed one, in a series of the same tags.
        let (metric, after) = match held.metric {
            HTTP_REQ_FAILED => (HTTP_REQ_DURATION, AfterLoad { seen_ms: f64::INFINITY, ..*after }),
            metric if held.is_time() && held.is_upper() => {
                let limit_ms = held.condition.limit.max(after.least_ms);
                (metric, AfterLoad { patience_ms: limit_ms, seen_ms: after.seen_ms.max(limit_ms), ..*after })
            }
            _ => return,
        };
        let is_of = |key: &SeriesKey| {
            let filter = &held.selector.filter;
            key.metric == metric && (filter.is_empty() || held.selector.matches(&tags.get(key.tags)))
        };
        let sum = self.sum.get_or_insert_with(|| Aggregate::empty(held.kind));
        for (_, aggregate) in window.series.iter().filter(|(key, _)| is_of(key)) {
            for (ms, mark, count) in after.left_over(aggregate) {
                let against = if matches!(held.rule(), Rule::Mean { .. }) { ms } else { 1.0 };
                self.abandoned.0 += against * count as f64;
                self.abandoned.1 += count as f64;
                (0..count).for_each(|_| sum.record(ms, mark, window.end));
            }
        }
    }

    fn sight(&self, measured_s: f64) -> Sight {
        let none = Rule::Whole { holds: None };
        let rule = match (&self.held, &self.sum) {
            (Some(held), Some(sum)) => match held.rule() {
                Rule::Whole { .. } if !sum.is_empty() => {
                    let elapsed = std::time::Duration::from_secs_f64(measured_s);
                    Rule::Whole { holds: Some(held.condition.judge(sum, elapsed).0) }
                }
                rule => rule,
            },
            _ => none,
        };
        Sight { rule, value: self.value(measured_s), seconds: self.seconds(), weight: WEIGHT_FULL }
    }

    fn is_far(&self, measured_s: f64) -> bool {
        let Some(held) = &self.held else { return false };
        let is_small = || self.value(measured_s).is_some_and(|value| value <= FAR_MAX * held.condition.limit);
        match held.rule() {
            Rule::Share { .. } => {
                let is_unbroken = self.seconds().iter().all(|second| second.0 <= 0.0);
                self.value(measured_s).is_some()
                    && is_unbroken
                    && (!held.is_time() || held.is_upper() && is_small())
            }
            Rule::Mean { is_upper: true, .. } => is_small(),
            _ => false,
        }
    }

    /// The seconds, with what was abandoned spread over all of them: when it began is not known.
    fn seconds(&self) -> Vec<(f64, f64)> {
        let count = self.seconds.len().max(1) as f64;
        let (against, all) = (self.abandoned.0 / count, self.abandoned.1 / count);
        self.seconds.iter().map(|second| (second.0 + against, second.1 + all)).collect()
    }

    fn value(&self, measured_s: f64) -> Option<f64> {
        let (held, sum) = (self.held.as_ref()?, self.sum.as_ref()?);
        if sum.is_empty() {
            return None;
        }
        number(held.condition.stat.read(sum, std::time::Duration::from_secs_f64(measured_s))?)
    }
}

/// The time in seconds that a level waits for requests after its load has ended: as long as objectives on built-in metrics allow, within
/// limits. What takes longer is cut off, and counts as failed.
pub fn patience_s(asked: &[Asked]) -> f64 {
    let known = MetricRegistry::default();
    let held = asked.iter().filter_map(|asked| asked.held(&known).ok().flatten());
    let limits_s =
        held.filter(|held| held.is_time() && held.is_upper()).map(|held| held.condition.limit / 1e3);
    limits_s.filter(|limit_s| limit_s.is_finite()).fold(PATIENCE_S_MIN, f64::max).min(PATIENCE_S_MAX)
}

/// The times, in ms, by which a window after the end of the load is judged.
#[derive(Clone, Copy)]
struct AfterLoad {
    /// A request that took less began after the end of the load, and was asked by no load.
    least_ms: f64,
    /// A request that was cut off or timed out after more than this counts.
    patience_ms: f64,
    /// So does what finished after more than this: it began too late to finish in any second that counts.
    seen_ms: f64,
}

impl AfterLoad {
    /// Returns what counts of a window's times: a time, its mark, and how many there are of it. The times of one mark are taken to be
    /// as long as the longest.
    fn left_over(&self, aggregate: &Aggregate) -> Vec<(f64, Mark, u64)> {
        let Aggregate::Trend(trend) = aggregate else { return Vec::new() };
        let of = |values: &Values, mark: Mark, bound_ms: f64| {
            let count = above(values, bound_ms) as u64;
            values.max().filter(|_| count > 0).map(|ms| (ms, mark, count))
        };
        let failures = trend.failures.as_deref();
        let cut = failures.and_then(|failures| of(&failures.cut, Mark::Cut, self.patience_ms));
        let timed_out =
            failures.and_then(|failures| of(&failures.timed_out, Mark::TimedOut, self.patience_ms));
        let late = of(&trend.values, Mark::Measured, self.seen_ms);
        [cut, timed_out, late].into_iter().flatten().collect()
    }
}

/// Returns the value of a statistic; `None` if only a bound is known.
fn number(quantile: Quantile) -> Option<f64> {
    match quantile {
        Quantile::Value(value) => Some(value),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use model::{Load, ScenarioId, TagSetId};

    use super::super::objective::parse_all;
    use super::*;

    /// A second with `count` requests of `ms` each and one iteration in progress all the time.
    fn window(index: u32, count: u32, ms: f64, dropped: f64) -> Window {
        let at = |second: u32| Instant::from_ns(u64::from(second) * 1_000_000_000);
        let mut trend = Aggregate::empty(MetricKind::Trend);
        (0..count).for_each(|_| trend.record(ms, Mark::Measured, at(index)));
        let mut drops = Aggregate::empty(MetricKind::Counter);
        drops.record(dropped, Mark::Measured, at(index));
        let load = |work| Load {
            scenario: Some(ScenarioId(0)),
            work,
            started: u64::from(count),
            finished: u64::from(count),
            in_flight_ns: 1_000_000_000,
        };
        let key = |metric| SeriesKey { metric, tags: TagSetId::default() };
        Window {
            index,
            start: at(index),
            end: at(index + 1),
            series: vec![(key(DROPPED_ITERATIONS), drops), (key(HTTP_REQ_DURATION), trend)],
            load: vec![load(Work::Iterations), load(Work::Requests)],
            ..Window::default()
        }
    }

    fn metered(windows: &[Window]) -> Meter {
        let asked = parse_all(&["http_req_duration: p(95)<50".to_owned(), "e2e: p(95)<1".to_owned()]);
        let mut meter = Meter::new(&asked.expect("objectives"), 2.0, 10.0);
        meter.begin(Instant::from_ns(1_000_000_000));
        let (metrics, tags) = (MetricRegistry::default(), TagInterner::default());
        windows.iter().try_for_each(|it| meter.add(it, &metrics, &tags)).expect("conditions");
        meter
    }

    #[test]
    fn a_level_far_from_all_limits_is_known_after_a_few_requests() {
        let is_far = |slo: &str, ms: f64| {
            let asked = parse_all(&[slo.to_owned()]).expect("an objective");
            let mut meter = Meter::new(&asked, 0.0, 10.0);
            meter.begin(Instant::from_ns(0));
            let (metrics, tags) = (MetricRegistry::default(), TagInterner::default());
            (0..3).for_each(|at| meter.add(&window(at, 1, ms, 0.0), &metrics, &tags).expect("a condition"));
            meter.is_far()
        };
        assert!(is_far("http_req_duration: p(95)<50", 20.0) && is_far("http_req_duration: avg<50", 20.0));
        assert!(!is_far("http_req_duration: p(95)<50", 30.0), "nothing broke the limit, and it is near");
        assert!(!is_far("http_req_duration: p(95)<50", 60.0) && !is_far("http_req_duration: avg<50", 30.0));
        assert!(!is_far("http_req_duration: max<50", 20.0) && !is_far("http_req_duration: p(95)>5", 20.0));
        assert!(!is_far("e2e: p(95)<1", 20.0), "it was not measured");
    }

    #[test]
    fn the_warm_up_and_what_is_after_the_end_are_left_out() {
        let windows: Vec<Window> = (0..15).map(|index| window(index, 10, f64::from(index), 0.0)).collect();
        let found = metered(&windows).finish();
        assert_eq!((found.measured_s, found.throughput_per_s, found.busy_vus), (8.0, 10.0, 1.0));
        assert_eq!(found.sights[0].seconds.len(), 8);
        assert_eq!(found.time_s, found.sights[0].value.map(|ms| ms / 1e3));
        assert_eq!(found.sights[1].holds(), None, "it was not measured");
    }

    #[test]
    fn iterations_that_found_no_vu_break_the_limit() {
        let windows: Vec<Window> = (3..11).map(|index| window(index, 10, 5.0, 10.0)).collect();
        let found = metered(&windows).finish();
        assert_eq!(found.sights[0].seconds[0], (10.0, 20.0));
        assert!(found.sights[0].holds().is_some_and(|holds| holds < 0.01));
    }

    /// A second after the load's end in which requests are cut off after so long.
    fn cut_window(index: u32, cut: u32, ms: f64) -> Window {
        let mut window = window(index, 0, 0.0, 0.0);
        let mut trend = Aggregate::empty(MetricKind::Trend);
        let mut failed = Aggregate::empty(MetricKind::Rate);
        for _ in 0..cut {
            trend.record(ms, Mark::Cut, window.start);
            failed.record(1.0, Mark::Measured, window.start);
        }
        let key = |metric| SeriesKey { metric, tags: TagSetId::default() };
        window.series = vec![(key(HTTP_REQ_DURATION), trend), (key(HTTP_REQ_FAILED), failed)];
        window
    }

    /// Eight seconds with ten quick requests each, and then requests that the target never answered.
    fn cut_off(cut: u32, ms: f64) -> Measurement {
        let quick = |index: u32| {
            let mut window = window(index, 10, 5.0, 0.0);
            let mut failed = Aggregate::empty(MetricKind::Rate);
            (0..10).for_each(|_| failed.record(0.0, Mark::Measured, window.start));
            window.series.push((SeriesKey { metric: HTTP_REQ_FAILED, tags: TagSetId::default() }, failed));
            window
        };
        let asked = ["http_req_duration: p(95)<50".to_owned(), "http_req_failed: rate==0".to_owned()];
        let mut meter = Meter::new(&parse_all(&asked).expect("objectives"), 2.0, 10.0);
        meter.begin(Instant::from_ns(1_000_000_000));
        let (metrics, tags) = (MetricRegistry::default(), TagInterner::default());
        let windows = (3..11).map(quick).chain([cut_window(14, cut, ms)]);
        windows.for_each(|window| meter.add(&window, &metrics, &tags).expect("conditions"));
        meter.finish()
    }

    #[test]
    fn requests_that_hang_until_the_end_break_the_objectives() {
        let hung = cut_off(80, 9_000.0);
        let [time, failed] = &hung.sights[..] else { panic!("two objectives") };
        assert_eq!(hung.failed_share, Some(0.5), "80 of 160 requests were never answered");
        assert!(time.holds().is_some_and(|holds| holds < 0.01), "{time:?}");
        assert_eq!((failed.value, failed.holds()), (Some(0.5), Some(0.0)), "{failed:?}");
        assert_eq!(time.value, None, "the 95th percentile is among what was cut off");
    }

    #[test]
    fn requests_that_began_after_the_load_or_just_before_are_not_failed() {
        for ms in [20.0, 2_900.0] {
            let healthy = cut_off(5, ms);
            assert_eq!(healthy.failed_share, Some(0.0), "{ms}");
            assert!(healthy.sights[1].holds().is_some_and(|holds| holds > 0.9), "{ms}");
        }
        assert!(
            cut_off(5, 20.0).sights[0].holds().is_some_and(|holds| holds > 0.9),
            "it began after the load"
        );
    }

    /// All requests take longer than the level: none of them finishes in a second that counts.
    #[test]
    fn requests_that_finish_only_after_the_level_break_its_limit() {
        let asked = ["http_req_duration: p(95)<50".to_owned(), "http_req_duration: avg<50".to_owned()];
        let slow = |ms: f64| {
            let mut meter = Meter::new(&parse_all(&asked).expect("objectives"), 2.0, 10.0);
            meter.begin(Instant::from_ns(1_000_000_000));
            let (metrics, tags) = (MetricRegistry::default(), TagInterner::default());
            let windows = (3..11).map(|index| window(index, 0, 0.0, 0.0)).chain([window(12, 20, ms, 0.0)]);
            windows.for_each(|window| meter.add(&window, &metrics, &tags).expect("conditions"));
            meter.finish().sights
        };
        for sight in slow(11_000.0) {
            assert!(sight.holds().is_some_and(|holds| holds < 0.5), "{sight:?}");
        }
        assert!(slow(900.0).iter().all(|sight| sight.holds().is_none()), "they began in the last second");
    }

    #[test]
    fn a_level_waits_as_long_as_its_objectives_allow() {
        let check = |text: &str, expect: f64| {
            let asked = parse_all(&[text.to_owned()]).expect("an objective");
            assert_eq!(patience_s(&asked), expect, "{text}");
        };
        check("http_req_duration: p(95)<50", PATIENCE_S_MIN);
        check("http_req_duration: p(95)<8000", 8.0);
        check("http_req_duration: p(95)>8000", PATIENCE_S_MIN);
        check("http_req_duration: p(95)<90000", PATIENCE_S_MAX);
        check("http_req_failed: rate==0", PATIENCE_S_MIN);
        check("e2e: p(95)<8000", PATIENCE_S_MIN);
    }
}
