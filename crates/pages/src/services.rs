//! `/services`: services and the calls between them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use analysis::traces::{Edge, Graph, GraphBuilder, Place, Seen};
use api::page::{OperationRow, Services, ServicesEdge, ServicesPlace, ShownWindow, Value};
use histo::Values;
use model::plan::TimeUnit;
use model::{Instant, OWN_SERVICE, OperationLoad, SpanKind};
use server::PageError;

use super::scope::Scope;
use super::traces::{kept_in, sample};
use super::values::FigureTotals;
use super::{add, damaged, json, values};

/// Maximum number of operations listed separately.
const OPERATIONS_MAX: usize = 500;

/// Length of the interval in which operations are counted, ns.
const TEN_NS: u64 = 10_000_000_000;

/// The reason why a call has no rate of its own.
const NOT_SAMPLED: &str = "not in the unbiased sample";

/// The work of a service, added up.
#[derive(Clone, Debug, Default)]
struct Work {
    errors: u64,
    durations: Values,
}

type Key = (Arc<str>, Arc<str>, SpanKind);

pub(super) fn answer(scope: &Scope) -> Result<String, PageError> {
    let (tens, window) = tens(scope)?;
    let seconds = f64::from(window.to - window.from);
    let mut work: HashMap<Key, Work> = HashMap::new();
    let loads = scope.reader.operations().map_err(damaged)?;
    for load in loads.into_iter().filter(|load| tens.contains(&load.ten)) {
        let OperationLoad { service, operation, kind, errors, durations, .. } = load;
        work.entry((service, operation, kind)).or_default().take(errors, &durations);
    }
    let mut builder = GraphBuilder::default();
    let traces = kept_in(scope)?;
    traces.iter().for_each(|trace| builder.add(trace));
    let graph = builder.build();
    let unit = scope.time_unit();
    // Traces cover the selected range; operations cover the whole ten-second intervals around it.
    let asked = scope.range.len() as f64;
    let (sum, elapsed) = scope.sum()?;
    json(&Services {
        requests: rate(FigureTotals::from_window(sum).requests() as f64, elapsed.as_secs_f64()),
        sample: sample(&traces),
        places: places(&graph, &work, (seconds, asked), unit),
        edges: graph.edges.iter().map(|edge| row(edge, asked, unit)).collect(),
        left_out: graph.left_out,
        operations_left_out: work.len().saturating_sub(OPERATIONS_MAX) as u64,
        operations: operations(&work, seconds, unit),
        window,
    })
}

/// Returns the ten-second intervals that contain the range, and their seconds.
fn tens(scope: &Scope) -> Result<(std::ops::Range<u32>, ShownWindow), PageError> {
    let all = scope.all.len() as u32;
    if scope.is_whole() {
        return Ok((0..u32::MAX, ShownWindow { from: 0, to: all, is_whole: true }));
    }
    let (window, _) = scope.sum()?;
    let ten = |at: Instant| u32::try_from(at.as_ns() / TEN_NS).unwrap_or(u32::MAX);
    let (first, last) = (ten(window.start), ten(Instant::from_ns(window.end.as_ns().saturating_sub(1))));
    let second =
        |ten: u32| scope.t(Instant::from_ns(u64::from(ten) * TEN_NS)).clamp(0.0, f64::from(all)) as u32;
    let shown = ShownWindow { from: second(first), to: second(last.saturating_add(1)), is_whole: false };
    Ok((first..last.saturating_add(1), shown))
}

impl Work {
    fn take(&mut self, errors: u64, durations: &Values) {
        add(&mut self.errors, errors);
        self.durations.merge(durations);
    }
}

/// Returns the identifier of a place.
fn key(place: &Place) -> String {
    format!("{}:{}", place.kind(), place.name())
}

/// Returns all places of the graph, including services that appear in no trace.
fn places(
    graph: &Graph,
    work: &HashMap<Key, Work>,
    (seconds, asked): (f64, f64),
    unit: Option<TimeUnit>,
) -> Vec<ServicesPlace> {
    let mut services: BTreeMap<&str, Work> = BTreeMap::new();
    for ((service, _, kind), load) in work {
        // The load generator is outside the graph.
        if &**service == OWN_SERVICE && *kind == SpanKind::Client {
            continue;
        }
        let is_asked_for = matches!(kind, SpanKind::Server | SpanKind::Consumer);
        let of = services.entry(service).or_default();
        if is_asked_for {
            of.take(load.errors, &load.durations);
        }
    }
    let shown = graph.places.iter().map(|place| match place {
        Place::Service(name) => {
            let work = services.remove(&**name).unwrap_or_default();
            of_service(name, &work, seconds, unit)
        }
        place => of_other(graph, place, asked, unit),
    });
    let mut places: Vec<ServicesPlace> = shown.collect();
    places.extend(services.into_iter().map(|(name, work)| of_service(name, &work, seconds, unit)));
    places
}

fn of_service(name: &str, work: &Work, seconds: f64, unit: Option<TimeUnit>) -> ServicesPlace {
    let place = Place::Service(name.to_owned());
    let count = work.durations.count();
    ServicesPlace {
        key: key(&place),
        kind: place.kind(),
        name: name.to_owned(),
        rate: rate(count as f64, seconds),
        failed: share(work.errors, count),
        p50: values::quantile_ms(&work.durations, 0.5, unit),
        p95: values::quantile_ms(&work.durations, 0.95, unit),
    }
}

/// Describes a place that sends no spans by its users' spans: for queues by the consumers, else by the callers.
fn of_other(graph: &Graph, place: &Place, seconds: f64, unit: Option<TimeUnit>) -> ServicesPlace {
    let is_mine = |edge: &&Edge| match place {
        Place::Queue(_) | Place::Outside => edge.from == *place,
        _ => edge.to == *place,
    };
    let (mut sum, mut estimated) = (Seen::default(), 0.0);
    for edge in graph.edges.iter().filter(is_mine) {
        sum.count += edge.sampled.count;
        sum.errors += edge.sampled.errors;
        sum.durations.merge(&edge.sampled.durations);
        estimated += edge.estimated;
    }
    ServicesPlace {
        key: key(place),
        kind: place.kind(),
        name: place.name().to_owned(),
        rate: estimate(&sum, estimated, seconds),
        failed: share(sum.errors, sum.count),
        p50: values::quantile_ms(&sum.durations, 0.5, unit),
        p95: values::quantile_ms(&sum.durations, 0.95, unit),
    }
}

fn row(edge: &Edge, seconds: f64, unit: Option<TimeUnit>) -> ServicesEdge {
    ServicesEdge {
        from: key(&edge.from),
        to: key(&edge.to),
        count: values::count(edge.all.count),
        rate: estimate(&edge.sampled, edge.estimated, seconds),
        failed: share(edge.sampled.errors, edge.sampled.count),
        p50: values::quantile_ms(&edge.sampled.durations, 0.5, unit),
        p95: values::quantile_ms(&edge.sampled.durations, 0.95, unit),
    }
}

fn operations(work: &HashMap<Key, Work>, seconds: f64, unit: Option<TimeUnit>) -> Vec<OperationRow> {
    let mut rows: Vec<(&Key, &Work)> = work.iter().collect();
    rows.sort_by(|(a, x), (b, y)| y.durations.count().cmp(&x.durations.count()).then_with(|| a.cmp(b)));
    let row = |((service, operation, kind), work): (&Key, &Work)| {
        let count = work.durations.count();
        let quantile = |q| values::quantile_ms(&work.durations, q, unit);
        OperationRow {
            service: service.to_string(),
            operation: operation.to_string(),
            side: kind.as_str(),
            count: values::count(count),
            rate: rate(count as f64, seconds),
            failed: values::count(work.errors),
            failed_share: share(work.errors, count),
            p50: quantile(0.5),
            p95: quantile(0.95),
            p99: quantile(0.99),
            max: work.durations.max().map_or_else(|| values::none("no samples"), |max| values::ms(max, unit)),
        }
    };
    rows.into_iter().take(OPERATIONS_MAX).map(|(key, work)| row((key, work))).collect()
}

fn rate(count: f64, seconds: f64) -> Value {
    if seconds > 0.0 { values::per_second(count / seconds) } else { values::none("no time") }
}

fn estimate(seen: &Seen, estimated: f64, seconds: f64) -> Value {
    if seen.count == 0 { values::none(NOT_SAMPLED) } else { rate(estimated, seconds) }
}

fn share(part: u64, whole: u64) -> Value {
    if whole == 0 { values::none("no samples") } else { values::share(part as f64 / whole as f64) }
}
