//! Metrics in the text format of Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Upper bounds of a histogram's buckets, in seconds (OpenTelemetry semantic conventions, "HTTP metrics").
const BOUNDS_S: [f64; 14] = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0];

/// The kind of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A sum that only grows.
    Counter,
    /// A number that goes up and down.
    Gauge,
    /// How many values lie below each of a row of bounds.
    Histogram,
}

/// A metric that a service has.
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    /// Its name, its unit last.
    pub name: &'static str,
    /// Its kind.
    pub help: &'static str,
    /// Its kind.
    pub kind: Kind,
}

/// A metric with its name, kind and help.
pub const fn metric(name: &'static str, kind: Kind, help: &'static str) -> Definition {
    Definition { name, help, kind }
}

/// Counters of a [`crate::Tracer`].
pub const SPANS: Definition = metric(crate::trace::SPANS, Kind::Counter, "Spans, by what became of them.");

/// The metrics of a service. There are as many series as the service names; none comes from a request.
#[derive(Debug)]
pub struct Metrics {
    definitions: &'static [Definition],
    values: Mutex<Values>,
}

#[derive(Debug, Default)]
struct Values {
    numbers: BTreeMap<(&'static str, &'static str), f64>,
    histograms: BTreeMap<(&'static str, &'static str), Histogram>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Histogram {
    buckets: [u64; BOUNDS_S.len()],
    count: u64,
    sum: f64,
}

impl Metrics {
    /// With these metrics; those without labels are zero from the beginning.
    pub fn new(definitions: &'static [Definition]) -> Metrics {
        let plain = definitions.iter().filter(|definition| definition.kind != Kind::Histogram);
        let numbers = plain.map(|definition| ((definition.name, ""), 0.0)).collect();
        Metrics { definitions, values: Mutex::new(Values { numbers, histograms: BTreeMap::new() }) }
    }

    /// Adds to a counter. `labels` are written as they are shown: `route="/apps"`.
    pub fn add(&self, name: &'static str, labels: &'static str, by: f64) {
        *self.values().numbers.entry((name, labels)).or_default() += by;
    }

    /// Sets a gauge.
    pub fn set(&self, name: &'static str, labels: &'static str, to: f64) {
        self.values().numbers.insert((name, labels), to);
    }

    /// Counts a value of a histogram, in seconds.
    pub fn observe(&self, name: &'static str, labels: &'static str, value_s: f64) {
        let mut values = self.values();
        let histogram = values.histograms.entry((name, labels)).or_default();
        for (bucket, bound) in histogram.buckets.iter_mut().zip(BOUNDS_S) {
            *bucket += u64::from(value_s <= bound);
        }
        histogram.count += 1;
        histogram.sum += value_s;
    }

    /// All of them, as a scrape is answered.
    pub fn render(&self) -> String {
        let values = self.values();
        let mut text = String::new();
        for Definition { name, help, kind } in self.definitions {
            let kind_name = match kind {
                Kind::Counter => "counter",
                Kind::Gauge => "gauge",
                Kind::Histogram => "histogram",
            };
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind_name}");
            for ((_, labels), value) in
                values.numbers.range((*name, "")..).take_while(|((it, _), _)| it == name)
            {
                let braced = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
                let _ = writeln!(text, "{name}{braced} {value}");
            }
            for ((_, labels), histogram) in
                values.histograms.range((*name, "")..).take_while(|((it, _), _)| it == name)
            {
                render_histogram(&mut text, name, labels, histogram);
            }
        }
        text
    }

    fn values(&self) -> MutexGuard<'_, Values> {
        self.values.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn render_histogram(text: &mut String, name: &str, labels: &str, histogram: &Histogram) {
    let comma = if labels.is_empty() { "" } else { "," };
    for (bucket, bound) in histogram.buckets.iter().zip(BOUNDS_S) {
        let _ = writeln!(text, "{name}_bucket{{{labels}{comma}le=\"{bound}\"}} {bucket}");
    }
    let Histogram { count, sum, .. } = histogram;
    let _ = writeln!(text, "{name}_bucket{{{labels}{comma}le=\"+Inf\"}} {count}");
    let _ = writeln!(text, "{name}_sum{{{labels}}} {sum}\n{name}_count{{{labels}}} {count}");
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEFINITIONS: &[Definition] = &[
        Definition { name: "a_total", help: "Of a.", kind: Kind::Counter },
        Definition { name: "b_seconds", help: "Of b.", kind: Kind::Histogram },
    ];

    #[test]
    fn a_scrape_shows_every_series() {
        let metrics = Metrics::new(DEFINITIONS);
        metrics.add("a_total", "", 2.0);
        metrics.add("a_total", "k=\"v\"", 0.5);
        metrics.observe("b_seconds", "route=\"/\"", 0.03);
        metrics.observe("b_seconds", "route=\"/\"", 30.0);
        let text = metrics.render();
        for line in [
            "# TYPE a_total counter",
            "a_total 2",
            "a_total{k=\"v\"} 0.5",
            "b_seconds_bucket{route=\"/\",le=\"0.025\"} 0",
            "b_seconds_bucket{route=\"/\",le=\"0.05\"} 1",
            "b_seconds_bucket{route=\"/\",le=\"+Inf\"} 2",
            "b_seconds_sum{route=\"/\"} 30.03",
            "b_seconds_count{route=\"/\"} 2",
        ] {
            assert!(text.lines().any(|it| it == line), "{line} is missing in\n{text}");
        }
    }
}
