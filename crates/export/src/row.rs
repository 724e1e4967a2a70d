//! Rows of a window.

use api::{Number, WindowRow};
use model::{Aggregate, Metric, MetricRegistry, Quantile, TagInterner, Trend, Window};
use tally::Stat;

/// A window's rows, in the order of its series. `wall_unix_ns` is its start by the wall clock.
pub fn rows(
    window: &Window,
    wall_unix_ns: i64,
    metrics: &MetricRegistry,
    tags: &TagInterner,
) -> Vec<WindowRow> {
    let time = api::rfc3339(wall_unix_ns);
    let elapsed = window.end.since(window.start);
    let row = |(key, aggregate): &(model::SeriesKey, Aggregate)| {
        let metric = metrics.get(key.metric);
        let set = tags.get(key.tags);
        let mut row = WindowRow {
            second: window.index,
            time: time.clone(),
            seconds: Number(elapsed.as_secs_f64()),
            tags: set.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            ..named(&metric)
        };
        fill(&mut row, aggregate);
        row
    };
    window.series.iter().map(row).collect()
}

fn named(metric: &Metric) -> WindowRow {
    WindowRow {
        metric: metric.name.to_string(),
        kind: metric.kind.as_str(),
        contains: metric.contains.as_str(),
        ..WindowRow::default()
    }
}

fn fill(row: &mut WindowRow, aggregate: &Aggregate) {
    match aggregate {
        Aggregate::Counter(counter) => {
            row.count = counter.count;
            row.sum = Some(Number(counter.sum.value()));
        }
        Aggregate::Gauge(gauge) if gauge.is_empty() => {}
        Aggregate::Gauge(gauge) => {
            row.value = Some(Number(gauge.last));
            row.min = Some(Number(gauge.min));
            row.max = Some(Number(gauge.max));
        }
        Aggregate::Rate(rate) => {
            row.count = rate.total;
            row.passes = Some(rate.passes);
            row.value = rate.rate().map(Number);
        }
        Aggregate::Trend(trend) => fill_trend(row, aggregate, trend),
    }
}

fn fill_trend(row: &mut WindowRow, aggregate: &Aggregate, trend: &Trend) {
    row.count = trend.population();
    row.unmeasured = trend.population() - trend.values.count();
    row.sum = Some(Number(trend.sum().value()));
    let mut censored = Vec::new();
    let mut read = |name: &str| {
        // The length of the window matters to counters alone.
        let quantile = Stat::parse(name).and_then(|stat| stat.read(aggregate, std::time::Duration::ZERO))?;
        match quantile {
            Quantile::Value(value) => Some(Number(value)),
            Quantile::AtLeast { bound, .. } => {
                censored.push(name.to_owned());
                Some(Number(bound))
            }
            Quantile::Failed => {
                censored.push(name.to_owned());
                None
            }
            Quantile::None => None,
        }
    };
    row.avg = read("avg");
    row.min = read("min");
    row.med = read("med");
    row.p90 = read("p(90)");
    row.p95 = read("p(95)");
    row.p99 = read("p(99)");
    row.max = read("max");
    row.censored = censored;
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::Arc;

    use model::metric::builtin::{CHECKS, HTTP_REQ_DURATION, HTTP_REQS, VUS};
    use model::{Instant, Mark, TagSet};

    use super::*;

    /// A window with one series of each kind, under a hostile name.
    pub(crate) fn sample() -> Vec<WindowRow> {
        let (registry, tags) = (Arc::<MetricRegistry>::default(), TagInterner::default());
        let set = tags.intern(TagSet::new([("name".into(), "=cmd()|\"a\",b\nc</script>\u{1b}[2J".into())]));
        let mut recorder = tally::Recorder::new(registry.clone());
        let mut record = |metric, value, mark| recorder.record(metric, set, value, mark, Instant::ZERO);
        record(HTTP_REQS, 1.0, Mark::Measured);
        record(HTTP_REQS, 1.0, Mark::Measured);
        record(HTTP_REQ_DURATION, 12.5, Mark::Measured);
        record(HTTP_REQ_DURATION, 60_000.0, Mark::TimedOut);
        record(CHECKS, 0.0, Mark::Measured);
        record(VUS, 7.0, Mark::Measured);
        let mut series = recorder.take_window();
        series.sort_unstable_by_key(|one| one.0);
        let window = Window { index: 3, end: Instant::from_ns(500_000_000), series, ..Window::default() };
        rows(&window, 1_795_264_969_000_000_000, &registry, &tags)
    }

    #[test]
    fn every_kind_has_its_columns() {
        let rows = sample();
        let of = |name: &str| rows.iter().find(|row| row.metric == name).expect("it was recorded");
        let requests = of("http_reqs");
        assert_eq!((requests.count, requests.sum, requests.avg), (2, Some(Number(2.0)), None));
        assert_eq!(
            (requests.second, requests.time.as_str(), requests.seconds),
            (3, "2026-11-21T12:42:49Z", Number(0.5))
        );
        let duration = of("http_req_duration");
        assert_eq!((duration.count, duration.unmeasured, duration.min), (2, 1, Some(Number(12.5))));
        assert_eq!(duration.p95, Some(Number(60_000.0)));
        assert!(duration.censored.iter().any(|name| name == "p(95)"), "{:?}", duration.censored);
        assert!(!duration.censored.iter().any(|name| name == "min"), "{:?}", duration.censored);
        assert_eq!((of("checks").passes, of("checks").value), (Some(0), Some(Number(0.0))));
        assert_eq!((of("vus").value, of("vus").count), (Some(Number(7.0)), 0));
    }
}
