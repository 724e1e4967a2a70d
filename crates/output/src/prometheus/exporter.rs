//! Running totals as series of Prometheus, in k6's names and units.

use model::{Aggregate, Failures, Metric, ThresholdResult, Trend, ValueKind, Window};
use prost::Message;

use super::labels::{self, NAME};
use super::native;
use super::proto::{Label, Sample, TimeSeries, WriteRequest};
use super::stats::Stat;
use crate::Context;
use crate::net::Payload;
use crate::push::Encoder;
use crate::totals::{Labels, Total, Totals};

/// The prefix of every metric's name.
const PREFIX: &str = "k6_";

/// How the run's thresholds stand: 1 where one holds, and 0 where it does not. k6 exports nothing of the kind.
const THRESHOLD_OK: &str = "plimsoll_threshold_ok";

/// Series per request: receivers limit the size of a body.
const SERIES_PER_REQUEST_MAX: usize = 2000;

/// The value that ends a series (Prometheus, `model/value`): a NaN with these bits.
const STALE: f64 = f64::from_bits(0x7ff0_0000_0000_0002);

/// How trends are written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Trends {
    /// A gauge for each statistic, with what follows the metric's name.
    Stats(Vec<(Stat, String)>),
    /// One native histogram.
    Native,
}

/// Adds up windows and writes what changed as remote write requests.
pub(crate) struct Exporter {
    totals: Totals,
    trends: Trends,
    has_stale_markers: bool,
    everywhere: Labels,
    thresholds: Vec<ThresholdResult>,
    /// Milliseconds since the Unix epoch.
    last_timestamp: i64,
}

impl Exporter {
    /// Nothing yet. `everywhere` are labels of every series beneath its own tags.
    pub(crate) fn new(
        context: &Context,
        trends: Trends,
        everywhere: Labels,
        has_stale_markers: bool,
    ) -> Exporter {
        let beneath = everywhere.clone();
        let everywhere = labels::labels(&model::TagSet::default(), &everywhere);
        let labeling = Box::new(move |tags: &model::TagSet| labels::labels(tags, &beneath));
        Exporter {
            totals: Totals::new(context.metrics.clone(), context.tags.clone(), labeling),
            trends,
            has_stale_markers,
            everywhere,
            thresholds: Vec::new(),
            last_timestamp: i64::MIN,
        }
    }

    /// Later than every one before: a series takes one value a millisecond, and the last second of a run may be short.
    fn timestamp(&mut self, wall_unix_ns: i64) -> i64 {
        let at = wall_unix_ns.div_euclid(1_000_000).max(self.last_timestamp.saturating_add(1));
        self.last_timestamp = at;
        at
    }

    fn write(&self, total: &Total, at: i64, out: &mut Vec<TimeSeries>) {
        let Total { metric, labels, sum, .. } = total;
        let mut push = |suffix: &str, value: f64| {
            out.push(sample(format!("{PREFIX}{}{suffix}", metric.name), labels, None, value, at));
        };
        match sum {
            Aggregate::Counter(counter) => push("_total", counter.sum.value()),
            // k6 writes gauges and counters of times as they are, in milliseconds.
            Aggregate::Gauge(gauge) => push("", gauge.last),
            Aggregate::Rate(rate) => push("_rate", rate.rate().unwrap_or_default()),
            Aggregate::Trend(trend) => self.write_trend(metric, labels, trend, at, out),
        }
    }

    fn write_trend(
        &self,
        metric: &Metric,
        labels: &Labels,
        trend: &Trend,
        at: i64,
        out: &mut Vec<TimeSeries>,
    ) {
        let divisor = if metric.contains == ValueKind::Time { 1000.0 } else { 1.0 };
        match &self.trends {
            Trends::Stats(stats) => {
                for (stat, suffix) in stats {
                    if let Some(value) = stat.value(trend, divisor) {
                        out.push(sample(
                            format!("{PREFIX}{}_{suffix}", metric.name),
                            labels,
                            None,
                            value,
                            at,
                        ));
                    }
                }
            }
            Trends::Native => {
                let unit = if metric.contains == ValueKind::Time { "_seconds" } else { "" };
                let name = format!("{PREFIX}{}{unit}", metric.name);
                let histograms = vec![native::histogram(trend, divisor, at)];
                out.push(TimeSeries { labels: with_name(name, labels, None), samples: vec![], histograms });
            }
        }
        if let Some(failures) = &trend.failures {
            write_failures(metric, labels, failures, at, out);
        }
    }

    fn write_thresholds(&self, at: i64, out: &mut Vec<TimeSeries>) {
        for result in &self.thresholds {
            let text = format!("{}: {}", result.selector, result.source);
            let threshold = Some(("threshold", text.as_str()));
            let value = f64::from(u8::from(result.ok));
            out.push(sample(THRESHOLD_OK.to_owned(), &self.everywhere, threshold, value, at));
        }
    }
}

impl Encoder for Exporter {
    fn add(&mut self, window: &Window) {
        self.totals.add(window);
    }

    fn set_thresholds(&mut self, results: &[ThresholdResult]) {
        self.thresholds = results.to_vec();
    }

    /// The changed series, each once and all at one time.
    fn payloads(&mut self, wall_unix_ns: i64) -> Vec<Payload> {
        let at = self.timestamp(wall_unix_ns);
        let mut series = Vec::new();
        self.totals.changed().for_each(|total| self.write(total, at, &mut series));
        self.write_thresholds(at, &mut series);
        self.totals.pushed();
        payloads(series)
    }

    fn push_failed(&mut self) {
        self.totals.push_failed();
    }

    /// The values that end all series, if that was asked for.
    fn ends(&mut self, wall_unix_ns: i64) -> Vec<Payload> {
        if !self.has_stale_markers {
            return Vec::new();
        }
        let at = self.timestamp(wall_unix_ns);
        let mut series = Vec::new();
        self.totals.all().for_each(|total| self.write(total, at, &mut series));
        self.write_thresholds(at, &mut series);
        for one in &mut series {
            one.samples.iter_mut().for_each(|sample| sample.value = STALE);
            let ended = |at| super::proto::Histogram { sum: STALE, timestamp: at, ..Default::default() };
            one.histograms.iter_mut().for_each(|histogram| *histogram = ended(histogram.timestamp));
        }
        payloads(series)
    }
}

/// Writes requests without a time, or with only a lower bound of it, by reason: quantiles near them mean little, histograms nothing.
fn write_failures(metric: &Metric, labels: &Labels, failures: &Failures, at: i64, out: &mut Vec<TimeSeries>) {
    let reasons = [
        ("timed_out", failures.timed_out.count()),
        ("cut", failures.cut.count()),
        ("dropped", failures.dropped),
        ("failed", failures.failed),
    ];
    for (reason, count) in reasons.into_iter().filter(|(_, count)| *count > 0) {
        let name = format!("{PREFIX}{}_censored_total", metric.name);
        out.push(sample(name, labels, Some(("reason", reason)), count as f64, at));
    }
}

fn sample(
    name: String,
    labels: &Labels,
    extra: Option<(&str, &str)>,
    value: f64,
    timestamp: i64,
) -> TimeSeries {
    let samples = vec![Sample { value, timestamp }];
    TimeSeries { labels: with_name(name, labels, extra), samples, histograms: vec![] }
}

/// All labels in order; an extra one takes the place of a tag of its name.
fn with_name(name: String, labels: &Labels, extra: Option<(&str, &str)>) -> Vec<Label> {
    let own = extra.map(|(name, value)| Label { name: name.to_owned(), value: value.to_owned() });
    let others = labels.iter().filter(|(name, _)| extra.is_none_or(|(extra, _)| name != extra));
    let others = others.map(|(name, value)| Label { name: name.clone(), value: value.clone() });
    let name = Label { name: NAME.to_owned(), value: name };
    let mut all: Vec<Label> = std::iter::once(name).chain(own).chain(others).collect();
    all.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    all
}

fn payloads(mut series: Vec<TimeSeries>) -> Vec<Payload> {
    let mut payloads = Vec::new();
    while !series.is_empty() {
        let rest = series.split_off(series.len().min(SERIES_PER_REQUEST_MAX));
        let request = WriteRequest { timeseries: std::mem::replace(&mut series, rest) };
        let compressed = snap::raw::Encoder::new().compress_vec(&request.encode_to_vec());
        let body = compressed.expect("a body of some megabytes is below the 4 GiB that the format holds");
        payloads.push(Payload { body, count: request.timeseries.len() as u64 });
    }
    payloads
}

#[cfg(test)]
mod tests {
    use model::{Mark, MetricId, MetricKind, Quantile};

    use super::*;
    use crate::csv::tests::context;
    use crate::totals::tests::{window, window_of_series};

    fn exporter(context: &Context, trends: Trends) -> Exporter {
        let everywhere = [("testid".to_owned(), "run".to_owned())].into_iter().collect();
        Exporter::new(context, trends, everywhere, true)
    }

    fn stats(text: &str) -> Trends {
        Trends::Stats(super::super::stats::parse(text).expect("statistics"))
    }

    /// Series as text, one a line: name, labels, value, milliseconds.
    fn read(payloads: &[Payload]) -> Vec<String> {
        let series = payloads.iter().flat_map(|payload| {
            let bytes = snap::raw::Decoder::new().decompress_vec(&payload.body).expect("snappy");
            WriteRequest::decode(&*bytes).expect("a request").timeseries
        });
        let line = |series: TimeSeries| {
            assert!(series.labels.is_sorted_by(|a, b| a.name < b.name), "{:?}", series.labels);
            let labels = series.labels.iter().filter(|label| label.name != NAME);
            let labels: Vec<String> = labels.map(|label| format!("{}={}", label.name, label.value)).collect();
            let name = series.labels.iter().find(|label| label.name == NAME).expect("a name");
            let value = match (&series.samples[..], &series.histograms[..]) {
                ([sample], []) if sample.value.to_bits() == STALE.to_bits() => {
                    format!("stale @{}", sample.timestamp)
                }
                ([sample], []) => format!("{} @{}", sample.value, sample.timestamp),
                ([], [histogram]) if histogram.sum.is_nan() => {
                    format!("stale histogram @{}", histogram.timestamp)
                }
                ([], [histogram]) => {
                    format!("n={:?} sum={} @{}", histogram.count, histogram.sum, histogram.timestamp)
                }
                _ => panic!("{series:?}"),
            };
            format!("{}{{{}}} {value}", name.value, labels.join(","))
        };
        series.map(line).collect()
    }

    #[test]
    fn series_are_those_of_k6_in_seconds() {
        let context = context(&[]);
        let mut exporter = exporter(&context, stats("p(99),count"));
        context.metrics.register("level", MetricKind::Gauge, ValueKind::Time).expect("a new metric");
        let samples = [
            ("level", "", 1500.0, Mark::Measured),
            ("http_reqs", "status=200,group=", 3.0, Mark::Measured),
            ("http_req_failed", "", 0.0, Mark::Measured),
            ("http_req_failed", "", 1.0, Mark::Measured),
            ("http_req_duration", "testid=mine", 1500.0, Mark::Measured),
            ("vus", "", 7.0, Mark::Measured),
        ];
        exporter.add(&window(&context, 0, &samples));
        let expect = [
            "k6_vus{testid=run} 7 @5",
            "k6_http_reqs_total{status=200,testid=run} 3 @5",
            "k6_http_req_failed_rate{testid=run} 0.5 @5",
            "k6_http_req_duration_p99{testid=mine} 1.5 @5",
            "k6_http_req_duration_count{testid=mine} 1 @5",
            "k6_level{testid=run} 1500 @5",
        ];
        assert_eq!(read(&exporter.payloads(5_999_999)), expect);
        assert_eq!(read(&exporter.payloads(6_000_000)), Vec::<String>::new());
    }

    #[test]
    fn totals_run_on_and_never_share_a_millisecond() {
        let context = context(&[]);
        let mut exporter = exporter(&context, stats("max"));
        exporter.add(&window(&context, 0, &[("iterations", "", 2.0, Mark::Measured)]));
        assert_eq!(read(&exporter.payloads(1_000_000)), ["k6_iterations_total{testid=run} 2 @1"]);
        // That one was lost: the next one has it all.
        exporter.push_failed();
        exporter.add(&window(&context, 1, &[("http_reqs", "", 1.0, Mark::Measured)]));
        let expect = ["k6_iterations_total{testid=run} 2 @2", "k6_http_reqs_total{testid=run} 1 @2"];
        assert_eq!(read(&exporter.payloads(1_000_001)), expect);
        exporter.add(&window(&context, 2, &[("iterations", "", 1.0, Mark::Measured)]));
        assert_eq!(read(&exporter.payloads(9_000_000)), ["k6_iterations_total{testid=run} 3 @9"]);
    }

    #[test]
    fn failures_are_reported_beside_the_quantiles_they_distort() {
        let context = context(&[]);
        let mut exporter = exporter(&context, stats("med,p(100)"));
        let of = |mark| ("http_req_duration", "", 1000.0, mark);
        let marks = [Mark::Measured, Mark::Measured, Mark::TimedOut, Mark::Failed, Mark::Failed];
        exporter.add(&window(&context, 0, &marks.map(of)));
        let expect = [
            "k6_http_req_duration_med{testid=run} 1 @0",
            "k6_http_req_duration_p100{testid=run} inf @0",
            "k6_http_req_duration_censored_total{reason=timed_out,testid=run} 1 @0",
            "k6_http_req_duration_censored_total{reason=failed,testid=run} 2 @0",
        ];
        assert_eq!(read(&exporter.payloads(0)), expect);
    }

    #[test]
    fn histograms_thresholds_and_ends() {
        let context = context(&[]);
        let mut exporter = exporter(&context, Trends::Native);
        exporter.add(&window(&context, 0, &[("http_req_duration", "", 2000.0, Mark::Measured)]));
        let (selector, source) = ("http_reqs".to_owned(), "count>1".to_owned());
        let (metric, observed) = (MetricId(0), Quantile::None);
        exporter.set_thresholds(&[ThresholdResult {
            selector,
            source,
            metric,
            observed,
            ok: true,
            limit: 1.0,
        }]);
        let expect = [
            "k6_http_req_duration_seconds{testid=run} n=Some(1) sum=2 @1",
            "plimsoll_threshold_ok{testid=run,threshold=http_reqs: count>1} 1 @1",
        ];
        assert_eq!(read(&exporter.payloads(1_000_000)), expect);
        let expect = [
            "k6_http_req_duration_seconds{testid=run} stale histogram @2",
            "plimsoll_threshold_ok{testid=run,threshold=http_reqs: count>1} stale @2",
        ];
        assert_eq!(read(&exporter.ends(1_000_000)), expect);
    }

    #[test]
    fn many_series_are_split_over_requests() {
        let context = context(&[]);
        let mut exporter = exporter(&context, stats("max"));
        exporter.add(&window_of_series(&context, SERIES_PER_REQUEST_MAX + 1));
        let payloads = exporter.payloads(0);
        assert_eq!((payloads.len(), read(&payloads).len()), (2, SERIES_PER_REQUEST_MAX + 1));
    }
}
