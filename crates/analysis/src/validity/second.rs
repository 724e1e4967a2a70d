//! What a window says about the measurement, in a few numbers.

use histo::{Histogram, Values};
use model::metric::builtin::{
    DATA_RECEIVED, DROPPED_ITERATIONS, HTTP_REQ_BLOCKED, HTTP_REQ_CONNECTING, HTTP_REQ_DURATION, HTTP_REQS,
    ITERATION_LATENESS,
};
use model::{Aggregate, Instant, Trend, Window, Work};

use super::pulse::Pulse;

/// Where the time of a connection lies that needed its first packet sent again: Linux sends it after 1, 3 and 7 seconds
/// (RFC 6298's initial second, doubled each time), and a handshake's round trip comes on top. Milliseconds.
const SIGNATURE_MS: [(f64, f64); 3] = [(990.0, 1_300.0), (2_990.0, 3_400.0), (6_990.0, 7_500.0)];

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
    pub(super) told_ms: f64,
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
    pub(super) fn of(window: &Window) -> Second {
        let mut second =
            Second { index: window.index, start: window.start, end: window.end, ..Second::default() };
        let mut lateness = Histogram::default();
        for (key, aggregate) in &window.series {
            match (key.metric, aggregate) {
                (ITERATION_LATENESS, Aggregate::Trend(trend)) => lateness.merge(&trend.values.to_histogram()),
                (HTTP_REQ_DURATION, Aggregate::Trend(trend)) => second.add_duration(trend),
                (HTTP_REQ_BLOCKED, Aggregate::Trend(trend)) => second.told_ms += trend.sum().value(),
                (HTTP_REQ_CONNECTING, Aggregate::Trend(trend)) => second.add_connects(&trend.values),
                (HTTP_REQS, Aggregate::Counter(counter)) => second.requests_recorded += counter.count,
                (DROPPED_ITERATIONS, Aggregate::Counter(counter)) => {
                    second.dropped += counter.sum.value() as u64;
                }
                (DATA_RECEIVED, Aggregate::Counter(counter)) => second.received += counter.sum.value(),
                _ => {}
            }
        }
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

    fn add_duration(&mut self, trend: &Trend) {
        let sum_ms = trend.sum().value();
        self.told_ms += sum_ms;
        self.duration_ms += sum_ms;
        self.timed += trend.count();
        self.untimed += trend.population() - trend.count();
    }

    fn add_connects(&mut self, values: &Values) {
        // Requests on a connection that was there already say zero.
        let histogram = values.to_histogram();
        self.connects += histogram.count() - histogram.zero();
        if values.max().is_none_or(|max| max < SIGNATURE_MS[0].0) {
            return;
        }
        let is_signature = |ms: f64| SIGNATURE_MS.iter().any(|(from, to)| (*from..*to).contains(&ms));
        let buckets = histogram.buckets().filter(|bucket| is_signature((bucket.lower + bucket.upper) / 2.0));
        self.connects_repeated += buckets.map(|bucket| bucket.count).sum::<u64>();
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
    use model::{ErrorCount, Load, Mark, MetricId, MetricKind, SeriesKey, TagSetId};

    use super::*;

    fn trend(metric: MetricId, values: &[f64]) -> (SeriesKey, Aggregate) {
        let mut aggregate = Aggregate::empty(MetricKind::Trend);
        values.iter().for_each(|value| aggregate.record(*value, Mark::Measured, Instant::ZERO));
        (SeriesKey { metric, tags: TagSetId::default() }, aggregate)
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
                trend(HTTP_REQ_CONNECTING, &[0.0, 0.5, 1_010.0, 3_100.0, 2_000.0, 980.0]),
                trend(ITERATION_LATENESS, &[0.5]),
                (SeriesKey { metric: HTTP_REQS, tags: TagSetId::default() }, requests),
            ],
            load: vec![load(Work::Iterations, 7, 1), load(Work::Requests, 4, 44_000_000)],
            errors: vec![error],
            ..Window::default()
        };
        let second = Second::of(&window);
        assert_eq!((second.started, second.requests_finished, second.requests_recorded), (7, 4, 4));
        assert_eq!((second.in_flight_ms, second.told_ms), (44.0, 42.0));
        assert_eq!((second.connects, second.connects_repeated), (5, 2));
        assert_eq!((second.exhausted, second.lateness_p99_ms), (2, Some(0.5)));
    }
}
