//! The measurement facts of one window, in a few numbers.

use histo::Histogram;
use model::metric::builtin::{
    DATA_RECEIVED, DROPPED_ITERATIONS, HTTP_REQ_BLOCKED, HTTP_REQ_CONNECTING, HTTP_REQ_DURATION, HTTP_REQS,
    ITERATION_LATENESS,
};
use model::{Aggregate, Brief, Instant, MetricId, Trend, Window, Work};

use super::pulse::Pulse;
use crate::laws::retransmission::AFTER_LOST_SYNS_S;

/// A connection whose first packet was sent again takes at most so much longer than the waits of its lost packets: the round trip of a
/// handshake, in milliseconds.
const HANDSHAKE_MS_MAX: f64 = 300.0;

/// Timers fire early by at most this, in milliseconds.
const EARLY_MS_MAX: f64 = 10.0;

/// A window in numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Second {
    pub(super) index: u32,
    pub(super) start: Instant,
    pub(super) end: Instant,
    /// The 99th percentile of how late iterations started, milliseconds.
    pub(super) lateness_p99_ms: Option<f64>,
    /// Iterations started.
    pub(super) started: u64,
    /// Iterations that were due and not started.
    pub(super) dropped: u64,
    /// Requests finished, as counted where they are made.
    pub(super) requests_finished: u64,
    /// Requests recorded as samples.
    pub(super) requests_recorded: u64,
    /// Requests under way × time, milliseconds.
    pub(super) in_flight_ms: f64,
    /// The times of requests that were recorded, added up, milliseconds.
    pub(super) recorded_ms: f64,
    /// Those that have a time, and the sum of their durations, milliseconds.
    pub(super) timed: u64,
    pub(super) duration_ms: f64,
    /// Requests that have no time.
    pub(super) untimed: u64,
    /// Connections made.
    pub(super) connects: u64,
    /// Those that took as long as one whose first packet was lost.
    pub(super) connects_repeated: u64,
    /// Requests that failed because this machine was at a limit of its own.
    pub(super) exhausted: u64,
    /// Bytes received.
    pub(super) received: f64,
    pub(super) pulse: Pulse,
}

impl Second {
    pub(super) fn new(window: &Window) -> Second {
        let mut second =
            Second { index: window.index, start: window.start, end: window.end, ..Second::default() };
        let mut lateness = Histogram::default();
        let mut facts = TrendFacts::default();
        for (key, aggregate) in &window.series {
            match (key.metric, aggregate) {
                (ITERATION_LATENESS, Aggregate::Trend(trend)) => lateness.merge(&trend.values.to_histogram()),
                (metric, Aggregate::Trend(trend)) => facts.add_trend(metric, trend),
                (HTTP_REQS, Aggregate::Counter(counter)) => second.requests_recorded += counter.count,
                (DROPPED_ITERATIONS, Aggregate::Counter(counter)) => {
                    second.dropped += counter.sum.value() as u64;
                }
                (DATA_RECEIVED, Aggregate::Counter(counter)) => second.received += counter.sum.value(),
                _ => {}
            }
        }
        second.add_trends(&facts);
        // Always of a histogram: a window read back from a file may have no single values left, and both must say the same.
        second.lateness_p99_ms = lateness.quantile(0.99);
        for load in &window.load {
            match load.work {
                Work::Iterations => second.started += load.started,
                Work::Requests => {
                    second.requests_finished += load.finished;
                    second.in_flight_ms += load.in_flight_ns as f64 / 1e6;
                }
            }
        }
        second.exhausted = window
            .errors
            .iter()
            .filter(|error| is_exhaustion(&error.message))
            .fold(0, |sum, error| sum.saturating_add(error.count));
        second
    }

    /// How long it was, seconds.
    pub(super) fn length_s(&self) -> f64 {
        self.end.since(self.start).as_secs_f64()
    }

    /// Adds what trends that the window does not hold say.
    pub(super) fn add_trends(&mut self, facts: &TrendFacts) {
        self.recorded_ms += facts.recorded_ms;
        self.timed += facts.timed;
        self.duration_ms += facts.duration_ms;
        self.untimed += facts.untimed;
        self.connects += facts.connects;
        self.connects_repeated += facts.connects_repeated;
    }
}

/// Totals of a window's trend metrics, for windows that are read without their samples.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrendFacts {
    recorded_ms: f64,
    timed: u64,
    duration_ms: f64,
    untimed: u64,
    connects: u64,
    connects_repeated: u64,
}

impl TrendFacts {
    /// The metrics that are looked at; of others nothing is kept.
    pub const METRICS: [MetricId; 3] = [HTTP_REQ_DURATION, HTTP_REQ_BLOCKED, HTTP_REQ_CONNECTING];

    /// Adds a series.
    pub fn add(&mut self, metric: MetricId, brief: &Brief<'_>) {
        match metric {
            HTTP_REQ_DURATION => self.add_duration(brief.sum, brief.count(), brief.failures),
            HTTP_REQ_BLOCKED => self.recorded_ms += brief.sum,
            HTTP_REQ_CONNECTING => self.add_connects(brief.buckets.iter().copied()),
            _ => {}
        }
    }

    fn add_trend(&mut self, metric: MetricId, trend: &Trend) {
        match metric {
            HTTP_REQ_DURATION => {
                let count = trend.count();
                self.add_duration(trend.sum().value(), count, trend.population() - count);
            }
            HTTP_REQ_BLOCKED => self.recorded_ms += trend.sum().value(),
            HTTP_REQ_CONNECTING => self.add_connects(trend.values.to_histogram().positive()),
            _ => {}
        }
    }

    fn add_duration(&mut self, sum_ms: f64, timed: u64, untimed: u64) {
        self.recorded_ms += sum_ms;
        self.duration_ms += sum_ms;
        self.timed = self.timed.saturating_add(timed);
        self.untimed = self.untimed.saturating_add(untimed);
    }

    /// Requests on a connection that was there already say zero.
    fn add_connects(&mut self, positive: impl Iterator<Item = (i32, u64)>) {
        let is_signature = |ms: f64| {
            let over_ms = AFTER_LOST_SYNS_S.map(|after_s| ms - after_s * 1e3);
            over_ms.iter().any(|over_ms| (-EARLY_MS_MAX..HANDSHAKE_MS_MAX).contains(over_ms))
        };
        for (index, count) in positive {
            self.connects = self.connects.saturating_add(count);
            let (lower, upper) = histo::bounds(index);
            if is_signature((lower + upper) / 2.0) {
                self.connects_repeated = self.connects_repeated.saturating_add(count);
            }
        }
    }
}

/// The operating system's words for having no port, descriptor or buffer left.
fn is_exhaustion(message: &str) -> bool {
    ["no free local port", "assign requested address", "too many open files", "no buffer"]
        .iter()
        .any(|words| message.contains(words))
}

#[cfg(test)]
mod tests {
    use model::{ErrorCount, Load, Mark, MetricKind, SeriesKey, TagSetId};

    use super::*;

    fn trend(metric: MetricId, values: &[f64]) -> (SeriesKey, Aggregate) {
        let mut aggregate = Aggregate::empty(MetricKind::Trend);
        values.iter().for_each(|value| aggregate.record(*value, Mark::Measured, Instant::ZERO));
        (SeriesKey { metric, tags: TagSetId::default() }, aggregate)
    }

    #[test]
    fn trends_say_the_same_in_brief() {
        let whole: Vec<(SeriesKey, Aggregate)> = vec![
            trend(HTTP_REQ_DURATION, &[10.0, 30.0]),
            trend(HTTP_REQ_BLOCKED, &[1.0, 0.0]),
            trend(HTTP_REQ_CONNECTING, &[0.0, 0.5, 1_010.0, 3_100.0]),
            trend(HTTP_REQS, &[7.0]),
        ];
        let mut facts = TrendFacts::default();
        for (key, aggregate) in &whole {
            let Aggregate::Trend(trend) = aggregate else { continue };
            let buckets: Vec<(i32, u64)> = trend.values.to_histogram().positive().collect();
            let others = trend.count() - buckets.iter().map(|bucket| bucket.1).sum::<u64>();
            let brief = Brief { buckets: &buckets, others, sum: trend.sum().value(), failures: 0 };
            facts.add(key.metric, &brief);
        }
        let mut second = Second::default();
        second.add_trends(&facts);
        assert_eq!(second, Second::new(&Window { series: whole, ..Window::default() }));
        assert_eq!((second.timed, second.connects, second.connects_repeated), (2, 3, 2));
    }

    #[test]
    fn a_window_becomes_numbers() {
        let mut requests = Aggregate::empty(MetricKind::Counter);
        (0..4).for_each(|_| requests.record(1.0, Mark::Measured, Instant::ZERO));
        let error = ErrorCount {
            code: 1210,
            message: "dial: cannot assign requested address: no free local port".into(),
            tags: TagSetId::default(),
            count: 2,
            example: "".into(),
        };
        let load = |work, started, in_flight_ns| Load {
            scenario: None,
            work,
            started,
            finished: started,
            in_flight_ns,
        };
        let window = Window {
            series: vec![
                trend(HTTP_REQ_DURATION, &[10.0, 30.0]),
                trend(HTTP_REQ_BLOCKED, &[1.0, 1.0]),
                trend(HTTP_REQ_CONNECTING, &[0.0, 0.5, 1_010.0, 3_100.0, 2_600.0, 980.0]),
                trend(ITERATION_LATENESS, &[0.5]),
                (SeriesKey { metric: HTTP_REQS, tags: TagSetId::default() }, requests),
            ],
            load: vec![load(Work::Iterations, 7, 1), load(Work::Requests, 4, 44_000_000)],
            errors: vec![error],
            ..Window::default()
        };
        let second = Second::new(&window);
        assert_eq!((second.started, second.requests_finished, second.requests_recorded), (7, 4, 4));
        assert_eq!((second.in_flight_ms, second.recorded_ms), (44.0, 42.0));
        assert_eq!((second.connects, second.connects_repeated), (5, 2));
        assert_eq!((second.exhausted, second.lateness_p99_ms), (2, Some(0.5)));
    }
}
