//! Running totals as metrics of OpenTelemetry (OTLP 1.x, `opentelemetry/proto/metrics/v1`), in k6's names and units.
//!
//! Everything is cumulative since the run began, as k6's is. Trends are exponential histograms of the scale of ours, so
//! that a receiver has the distribution that the summary is made of.

use std::collections::HashMap;

use model::{Aggregate, Failures, Metric, Trend, ValueKind, Window};
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, ExponentialHistogram, Gauge, Metric as OtlpMetric, NumberDataPoint,
    ResourceMetrics, ScopeMetrics, Sum, number_data_point,
};
use opentelemetry_proto::tonic::resource::v1::Resource;
use prost::Message;

use super::histogram;
use crate::Context;
use crate::net::{Payload, gzip};
use crate::push::Encoder;
use crate::totals::{Labels, Total, Totals};

/// Series per request: receivers limit the size of a body, and a histogram takes some kilobytes.
const SERIES_PER_REQUEST_MAX: usize = 500;

/// Adds up windows and writes all series as export requests.
pub(crate) struct Exporter {
    totals: Totals,
    prefix: String,
    resource: Resource,
    /// When the first window began, in nanoseconds since the Unix epoch.
    start_unix_ns: Option<u64>,
    epoch: model::Epoch,
    is_compressed: bool,
}

/// The parts that all data points of one message share.
#[derive(Clone, Copy)]
struct Span {
    start_unix_ns: u64,
    end_unix_ns: u64,
}

impl Exporter {
    /// Nothing yet. The attributes say whose metrics they are.
    pub(crate) fn new(
        context: &Context,
        prefix: String,
        attributes: &[(String, String)],
        is_compressed: bool,
    ) -> Exporter {
        let attributes = attributes.iter().map(|(key, value)| attribute(key, value)).collect();
        Exporter {
            totals: Totals::new(context.metrics.clone(), context.tags.clone(), Box::new(labels)),
            prefix,
            resource: Resource { attributes, ..Resource::default() },
            start_unix_ns: None,
            epoch: context.epoch,
            is_compressed,
        }
    }

    fn body(&self, metrics: Vec<OtlpMetric>) -> ExportMetricsServiceRequest {
        let scope = InstrumentationScope {
            name: "plimsoll".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            ..InstrumentationScope::default()
        };
        let scope_metrics = vec![ScopeMetrics { scope: Some(scope), metrics, schema_url: String::new() }];
        let resource = Some(self.resource.clone());
        let resource_metrics = vec![ResourceMetrics { resource, scope_metrics, schema_url: String::new() }];
        ExportMetricsServiceRequest { resource_metrics }
    }
}

impl Encoder for Exporter {
    fn add(&mut self, window: &Window) {
        self.start_unix_ns.get_or_insert_with(|| unsigned(self.epoch.wall_unix_ns(window.start)));
        self.totals.add(window);
    }

    /// How all series stand, as exporters of cumulative metrics do.
    fn payloads(&mut self, wall_unix_ns: i64) -> Vec<Payload> {
        let end_unix_ns = unsigned(wall_unix_ns);
        let span = Span { start_unix_ns: self.start_unix_ns.unwrap_or(end_unix_ns), end_unix_ns };
        let totals: Vec<&Total> = self.totals.all().collect();
        let payload = |totals: &[&Total]| {
            let body = self.body(metrics(totals, &self.prefix, span)).encode_to_vec();
            let body = if self.is_compressed { gzip(&body) } else { body };
            Payload { body, count: totals.len() as u64 }
        };
        totals.chunks(SERIES_PER_REQUEST_MAX).map(payload).collect()
    }
}

/// Tags without a value say nothing.
fn labels(tags: &model::TagSet) -> Labels {
    let kept = tags.iter().filter(|(_, value)| !value.is_empty());
    kept.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// The totals as metrics, each name once, in the order in which they first came.
fn metrics(totals: &[&Total], prefix: &str, span: Span) -> Vec<OtlpMetric> {
    let mut metrics = Metrics { prefix, span, places: HashMap::new(), metrics: Vec::new() };
    totals.iter().for_each(|total| metrics.write(total));
    metrics.metrics
}

struct Metrics<'a> {
    prefix: &'a str,
    span: Span,
    places: HashMap<String, usize>,
    metrics: Vec<OtlpMetric>,
}

impl Metrics<'_> {
    fn write(&mut self, total: &Total) {
        let Total { metric, labels, sum, .. } = total;
        match sum {
            Aggregate::Counter(counter) => {
                let point = self.point(labels, None, number_data_point::Value::AsDouble(counter.sum.value()));
                self.sum(metric, "", point);
            }
            Aggregate::Gauge(gauge) => {
                let point = self.point(labels, None, number_data_point::Value::AsDouble(gauge.last));
                if let Data::Gauge(gauge) = self.data(metric, "", || Data::Gauge(Gauge::default())) {
                    gauge.data_points.push(point);
                }
            }
            Aggregate::Rate(rate) => {
                let counts = [("nonzero", rate.passes), ("zero", rate.total - rate.passes)];
                for (condition, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
                    let point = self.point(labels, Some(("condition", condition)), integer(count));
                    self.sum(metric, ".total", point);
                }
            }
            Aggregate::Trend(trend) => self.trend(metric, labels, trend),
        }
    }

    fn trend(&mut self, metric: &Metric, labels: &Labels, trend: &Trend) {
        let mut point = histogram::data_point(trend);
        point.attributes = attributes(labels, None);
        (point.start_time_unix_nano, point.time_unix_nano) = (self.span.start_unix_ns, self.span.end_unix_ns);
        let empty = || {
            let (data_points, aggregation_temporality) = (vec![], AggregationTemporality::Cumulative.into());
            Data::ExponentialHistogram(ExponentialHistogram { data_points, aggregation_temporality })
        };
        if let Data::ExponentialHistogram(histogram) = self.data(metric, "", empty) {
            histogram.data_points.push(point);
        }
        if let Some(failures) = &trend.failures {
            self.failures(metric, labels, failures);
        }
    }

    /// Adds requests without a time, or with only a lower bound of it, by reason.
    fn failures(&mut self, metric: &Metric, labels: &Labels, failures: &Failures) {
        let reasons = [
            ("timed_out", failures.timed_out.count()),
            ("cut", failures.cut.count()),
            ("dropped", failures.dropped),
            ("failed", failures.failed),
        ];
        for (reason, count) in reasons.into_iter().filter(|(_, count)| *count > 0) {
            let point = self.point(labels, Some(("reason", reason)), integer(count));
            self.sum(metric, ".censored", point);
        }
    }

    fn sum(&mut self, metric: &Metric, suffix: &str, point: NumberDataPoint) {
        let empty = || {
            let (data_points, aggregation_temporality) = (vec![], AggregationTemporality::Cumulative.into());
            Data::Sum(Sum { data_points, aggregation_temporality, is_monotonic: true })
        };
        if let Data::Sum(sum) = self.data(metric, suffix, empty) {
            sum.data_points.push(point);
        }
    }

    fn point(
        &self,
        labels: &Labels,
        extra: Option<(&str, &str)>,
        value: number_data_point::Value,
    ) -> NumberDataPoint {
        NumberDataPoint {
            attributes: attributes(labels, extra),
            start_time_unix_nano: self.span.start_unix_ns,
            time_unix_nano: self.span.end_unix_ns,
            value: Some(value),
            ..NumberDataPoint::default()
        }
    }

    /// The points of a metric; a metric without any yet the first time.
    fn data(&mut self, metric: &Metric, suffix: &str, empty: impl FnOnce() -> Data) -> &mut Data {
        let name = format!("{}{}{suffix}", self.prefix, metric.name);
        let next = self.metrics.len();
        let place = *self.places.entry(name.clone()).or_insert(next);
        if place == next {
            let unit = if suffix.is_empty() { unit(metric.contains) } else { "" }.to_owned();
            self.metrics.push(OtlpMetric { name, unit, ..OtlpMetric::default() });
        }
        self.metrics[place].data.get_or_insert_with(empty)
    }
}

/// The unit in UCUM, as k6 gives it.
fn unit(contains: ValueKind) -> &'static str {
    match contains {
        ValueKind::Default => "",
        ValueKind::Time => "ms",
        ValueKind::Data => "By",
    }
}

fn integer(count: u64) -> number_data_point::Value {
    number_data_point::Value::AsInt(i64::try_from(count).unwrap_or(i64::MAX))
}

/// All attributes; an extra one takes the place of a tag of its name.
fn attributes(labels: &Labels, extra: Option<(&str, &str)>) -> Vec<KeyValue> {
    let others = labels.iter().filter(|(name, _)| extra.is_none_or(|(extra, _)| name != extra));
    let own = extra.map(|(name, value)| attribute(name, value));
    others.map(|(name, value)| attribute(name, value)).chain(own).collect()
}

fn attribute(key: &str, value: &str) -> KeyValue {
    let value = Some(AnyValue { value: Some(Value::StringValue(value.to_owned())) });
    KeyValue { key: key.to_owned(), value, ..KeyValue::default() }
}

fn unsigned(unix_ns: i64) -> u64 {
    u64::try_from(unix_ns).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use model::Mark;

    use super::*;
    use crate::csv::tests::context;
    use crate::totals::tests::{window, window_of_series};

    /// Data points as text, one a line: metric, unit, kind, attributes and value.
    fn read(payloads: &[Payload]) -> Vec<String> {
        let requests = payloads
            .iter()
            .map(|payload| ExportMetricsServiceRequest::decode(&*payload.body).expect("a request"));
        let metrics = requests.flat_map(|request| request.resource_metrics).flat_map(|it| it.scope_metrics);
        metrics.flat_map(|it| it.metrics).flat_map(|metric| lines(&metric)).collect()
    }

    fn lines(metric: &OtlpMetric) -> Vec<String> {
        let line = |attributes: &[KeyValue], value: String| {
            let text = |it: &KeyValue| match it.value.as_ref().and_then(|value| value.value.as_ref()) {
                Some(Value::StringValue(text)) => format!("{}={text}", it.key),
                other => panic!("{other:?}"),
            };
            let attributes: Vec<String> = attributes.iter().map(text).collect();
            format!("{} [{}] {{{}}} {value}", metric.name, metric.unit, attributes.join(","))
        };
        let number = |kind: &str, points: &[NumberDataPoint]| -> Vec<String> {
            let text = |point: &NumberDataPoint| {
                let (start, end) = (point.start_time_unix_nano, point.time_unix_nano);
                line(&point.attributes, format!("{kind} {:?} {start}..{end}", point.value.expect("a value")))
            };
            points.iter().map(text).collect()
        };
        match metric.data.as_ref().expect("data") {
            Data::Sum(sum) => {
                assert!(
                    sum.is_monotonic
                        && sum.aggregation_temporality == AggregationTemporality::Cumulative as i32
                );
                number("sum", &sum.data_points)
            }
            Data::Gauge(gauge) => number("gauge", &gauge.data_points),
            Data::ExponentialHistogram(histogram) => {
                let text =
                    |point: &opentelemetry_proto::tonic::metrics::v1::ExponentialHistogramDataPoint| {
                        line(
                            &point.attributes,
                            format!("n={} scale={} max={:?}", point.count, point.scale, point.max),
                        )
                    };
                histogram.data_points.iter().map(text).collect()
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn metrics_are_those_of_k6() {
        let mut context = context(&[]);
        context.epoch.wall_unix_ns = 1000;
        let attributes = [("service.name".to_owned(), "plimsoll".to_owned())];
        let mut exporter = Exporter::new(&context, "k6_".into(), &attributes, false);
        let samples = [
            ("http_reqs", "status=200,group=", 3.0, Mark::Measured),
            ("data_sent", "", 5.0, Mark::Measured),
            ("checks", "check=a", 1.0, Mark::Measured),
            ("checks", "check=a", 0.0, Mark::Measured),
            ("http_req_duration", "status=200", 1500.0, Mark::Measured),
            ("http_req_duration", "status=200", 60_000.0, Mark::TimedOut),
            ("vus", "", 7.0, Mark::Measured),
        ];
        exporter.add(&window(&context, 0, &samples));
        let expect = [
            "k6_vus [] {} gauge AsDouble(7.0) 1000..2000",
            "k6_checks.total [] {check=a,condition=nonzero} sum AsInt(1) 1000..2000",
            "k6_checks.total [] {check=a,condition=zero} sum AsInt(1) 1000..2000",
            "k6_http_reqs [] {status=200} sum AsDouble(3.0) 1000..2000",
            "k6_http_req_duration [ms] {status=200} n=2 scale=9 max=Some(60000.0)",
            "k6_http_req_duration.censored [] {status=200,reason=timed_out} sum AsInt(1) 1000..2000",
            "k6_data_sent [By] {} sum AsDouble(5.0) 1000..2000",
        ];
        assert_eq!(read(&exporter.payloads(2000)), expect);
        exporter.add(&window(&context, 1, &[("http_reqs", "status=200", 4.0, Mark::Measured)]));
        let lines = read(&exporter.payloads(3000));
        assert!(
            lines.contains(&"k6_http_reqs [] {status=200} sum AsDouble(7.0) 1000..3000".to_owned()),
            "{lines:?}"
        );
        assert_eq!(lines.len(), expect.len());
    }

    #[test]
    fn series_of_one_metric_are_one_metric() {
        let context = context(&[]);
        let mut exporter = Exporter::new(&context, String::new(), &[], false);
        exporter.add(&window_of_series(&context, SERIES_PER_REQUEST_MAX + 1));
        let payloads = exporter.payloads(0);
        assert_eq!(payloads.iter().map(|payload| payload.count).collect::<Vec<_>>(), [500, 1]);
        let request = ExportMetricsServiceRequest::decode(&*payloads[0].body).expect("a request");
        assert_eq!(request.resource_metrics[0].scope_metrics[0].metrics.len(), 1);
    }
}
