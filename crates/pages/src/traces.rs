//! `/traces`: a search in the stored traces, and their common properties.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use analysis::traces::{
    self as said, Attribution, Component, PieceKind, Stage, StageKind, Tree, attribute, critical_path,
};
use api::Number;
use api::page::{
    SpeedDifference, SpeedRow, StageRow, TraceExemplar, TracePart, TraceRow, TraceSample, Traces, Value,
};
use histo::{Histogram, Values};
use model::plan::TimeUnit;
use model::{Epoch, Instant, Kept, Span, SpanStatus, Trace};
use server::{PageError, Question};

use super::scope::Scope;
use super::{damaged, invalid, json, limit as asked_limit, values};

/// Maximum number of traces listed, unless the question asks for fewer.
const TRACES_MAX: usize = 1_000;

/// Maximum number of names offered as search filters.
const NAMES_MAX: usize = 500;

/// Maximum number of operations in the difference between fast and slow traces.
const DIFFERENCES_MAX: usize = 12;

/// A trace of the list.
struct Found<'a> {
    trace: &'a Trace,
    root: &'a Span,
    length_ns: u64,
    whole: Attribution,
}

/// The search filters of a question.
struct Search<'a> {
    service: Option<&'a str>,
    operation: Option<&'a str>,
    min_ns: u64,
    max_ns: u64,
    is_error: Option<bool>,
    kept: Option<&'a str>,
    text: Option<String>,
}

pub(super) fn answer(scope: &Scope, question: &Question) -> Result<String, PageError> {
    let limit = asked_limit(question, TRACES_MAX)?.unwrap_or(TRACES_MAX);
    let search = Search::parse(question)?;
    let all = kept_in(scope)?;
    let mut found: Vec<Found<'_>> =
        all.iter().filter_map(|trace| Found::new(trace)).filter(|found| search.finds(found)).collect();
    found.sort_by_key(|found| (std::cmp::Reverse(found.length_ns), found.trace.id));
    let places = Ranks::new(scope, &found)?;
    let unit = scope.time_unit();
    let (averaged, is_biased) = averaged(&found);
    let table = said::stages(averaged.iter().map(|found| found.trace));
    let is_apart = |stage: &Stage| !matches!(stage.kind, StageKind::Work | StageKind::Submit);
    let has_queues = table.stages.iter().any(is_apart);
    json(&Traces {
        total: all.len() as u64,
        matching: found.len() as u64,
        left_out: found.len().saturating_sub(limit) as u64,
        sample: sample(&all),
        services: services(&all),
        operations: operations(&all),
        exemplars: exemplars(&found, unit),
        traces: found.iter().take(limit).map(|found| row(scope, found, &places)).collect(),
        parts: average(&averaged, unit),
        averaged: averaged.len() as u64,
        is_biased,
        mean: (table.traces > 0).then(|| ms(table.mean_ns, unit)),
        stages: if has_queues { stages(&table.stages, unit) } else { Vec::new() },
        difference: difference(&found, unit),
    })
}

/// Returns the traces that began in the selected range.
///
/// # Errors
/// The file is damaged.
pub(super) fn kept_in(scope: &Scope) -> Result<Vec<&Trace>, PageError> {
    let span = scope.span()?;
    let is_in =
        |trace: &&Trace| trace.spans.first().is_some_and(|first| span.contains(&t(scope, first.start_ns)));
    Ok(all_kept(scope)?.iter().filter(is_in).collect())
}

/// Returns all traces of the run.
///
/// # Errors
/// The file is damaged.
pub(super) fn all_kept(scope: &Scope) -> Result<&[Trace], PageError> {
    scope.study.traces.get(|| scope.reader.traces()).map(Vec::as_slice).map_err(damaged)
}

/// Returns the ids of the traces that represent others.
///
/// # Errors
/// The file is damaged.
pub(super) fn standing_for_others(scope: &Scope) -> Result<Vec<String>, PageError> {
    let all = kept_in(scope)?;
    let mut found: Vec<Found<'_>> = all.iter().filter_map(|trace| Found::new(trace)).collect();
    found.sort_by_key(|found| (std::cmp::Reverse(found.length_ns), found.trace.id));
    Ok(exemplars(&found, None).into_iter().map(|one| one.id).collect())
}

/// Converts an instant to seconds from the start of the run.
pub(super) fn t(scope: &Scope, at_ns: i64) -> f64 {
    (at_ns as f64 - scope.zero.as_ns() as f64) / 1e9
}

/// Converts an instant of the run's clock to wall-clock time.
pub(super) fn at(scope: &Scope, at_ns: i64) -> String {
    let header = scope.reader.header();
    let epoch = Epoch { at: Instant::from_ns(header.started_ns), wall_unix_ns: header.started_wall_ns };
    api::rfc3339(epoch.wall_unix_ns(Instant::from_ns(u64::try_from(at_ns).unwrap_or(0))))
}

/// Returns a trace's id in hexadecimal, as it is written everywhere.
pub(super) fn id(trace: &Trace) -> String {
    format!("{:032x}", trace.id)
}

/// Formats nanoseconds as the page shows them.
pub(super) fn ms(ns: f64, unit: Option<TimeUnit>) -> Value {
    values::ms(ns / 1e6, unit)
}

/// Describes how traces were sampled.
pub(super) fn sample(all: &[&Trace]) -> TraceSample {
    let count = |name: &str| all.iter().filter(|trace| trace.kept.as_str() == name).count() as u64;
    let shares = all.iter().filter_map(|trace| match trace.kept {
        Kept::Sample { share } => Some(share),
        _ => None,
    });
    TraceSample {
        share: shares.reduce(f64::min).map(values::share),
        sampled: count("sample"),
        errors: count("error"),
        slowest: count("slowest"),
        buckets: count("bucket"),
        found: count("found"),
    }
}

/// Returns the time of a path by owner, without owners that had none.
pub(super) fn parts(
    attribution: &Attribution,
    traces: f64,
    counts: impl Fn(Component) -> u64,
    unit: Option<TimeUnit>,
) -> Vec<TracePart> {
    let total_ns = attribution.total_ns() as f64;
    let some = Component::ALL.into_iter().filter(|part| attribution.part_ns(*part) > 0);
    let row = |part: Component| {
        let part_ns = attribution.part_ns(part) as f64;
        TracePart {
            name: part.as_str(),
            duration: ms(part_ns / traces, unit),
            share: values::share(part_ns / total_ns),
            count: counts(part),
        }
    };
    some.map(row).collect()
}

/// Returns the name of a piece's kind.
pub(super) const fn kind(kind: PieceKind) -> &'static str {
    match kind {
        PieceKind::Work => "work",
        PieceKind::Queue => "queue",
        PieceKind::Between => "between",
        PieceKind::Poll => "poll",
    }
}

impl<'a> Found<'a> {
    fn new(trace: &'a Trace) -> Option<Found<'a>> {
        let tree = Tree::new(trace);
        let root = &trace.spans[tree.root()?];
        let whole = attribute(&tree, &critical_path(&tree), None);
        Some(Found { trace, root, length_ns: tree.length_ns(), whole })
    }

    fn errors(&self) -> usize {
        self.trace.spans.iter().filter(|span| span.status == SpanStatus::Error).count()
    }
}

impl<'a> Search<'a> {
    fn parse(question: &'a Question) -> Result<Search<'a>, PageError> {
        let is_error = match question.get("status") {
            None => None,
            Some("error") => Some(true),
            Some("ok") => Some(false),
            Some(other) => {
                let text = format!("failed to read status={other:?}: write ok or error");
                return Err(PageError::Invalid(text));
            }
        };
        Ok(Search {
            service: question.get("service"),
            operation: question.get("operation"),
            min_ns: duration_ns(question, "min_ms")?.unwrap_or(0),
            max_ns: duration_ns(question, "max_ms")?.unwrap_or(u64::MAX),
            is_error,
            kept: question.get("kept"),
            text: question.get("q").map(str::to_lowercase),
        })
    }

    fn finds(&self, found: &Found<'_>) -> bool {
        (self.min_ns..=self.max_ns).contains(&found.length_ns)
            && self.kept.is_none_or(|kept| found.trace.kept.as_str() == kept)
            && self.is_error.is_none_or(|is_error| (found.errors() > 0) == is_error)
            && self.operation.is_none_or(|operation| &*found.root.operation == operation)
            && self.service.is_none_or(|name| found.trace.spans.iter().any(|span| &*span.service == name))
            && self.text.as_ref().is_none_or(|text| is_about(found.trace, text))
    }
}

/// Returns a parameter in milliseconds as nanoseconds.
fn duration_ns(question: &Question, name: &str) -> Result<Option<u64>, PageError> {
    let Some(text) = question.get(name) else { return Ok(None) };
    let ms = text.parse::<f64>().ok().filter(|ms| ms.is_finite() && *ms >= 0.0);
    let ms = ms.ok_or_else(|| invalid(name, text, "write milliseconds, for example 250 or 0.5"))?;
    Ok(Some((ms * 1e6) as u64))
}

/// Returns true if a trace's id, operations or attributes contain the text.
fn is_about(trace: &Trace, text: &str) -> bool {
    let has = |part: &str| part.to_lowercase().contains(text);
    let is_in = |span: &Span| {
        has(&span.operation) || has(&span.service) || span.attributes.iter().any(|(_, value)| has(value))
    };
    id(trace).starts_with(text) || trace.spans.iter().any(is_in)
}

/// Distributions of the durations of operations, over all received spans.
struct Ranks(HashMap<(Arc<str>, Arc<str>), Histogram>);

impl Ranks {
    fn new(scope: &Scope, found: &[Found<'_>]) -> Result<Ranks, PageError> {
        let wanted: BTreeSet<(&str, &str)> =
            found.iter().map(|found| (&*found.root.service, &*found.root.operation)).collect();
        let mut all: HashMap<(Arc<str>, Arc<str>), Values> = HashMap::new();
        for load in scope.reader.operations().map_err(damaged)? {
            if wanted.contains(&(&*load.service, &*load.operation)) {
                all.entry((load.service, load.operation)).or_default().merge(&load.durations);
            }
        }
        Ok(Ranks(all.into_iter().map(|(key, values)| (key, values.to_histogram())).collect()))
    }

    /// Returns the share of an operation's executions that took no longer than this one.
    fn place(&self, span: &Span) -> Option<f64> {
        let histogram = self.0.get(&(span.service.clone(), span.operation.clone()))?;
        let ms = span.duration.as_nanos() as f64 / 1e6;
        // The span's own bucket counts up to its middle.
        let below: f64 = histogram
            .buckets()
            .map(|bucket| {
                let share = if bucket.upper <= ms {
                    1.0
                } else if bucket.lower < ms {
                    0.5
                } else {
                    0.0
                };
                bucket.count as f64 * share
            })
            .sum();
        (histogram.count() > 0).then(|| below / histogram.count() as f64)
    }
}

fn row(scope: &Scope, found: &Found<'_>, places: &Ranks) -> TraceRow {
    let (root, unit) = (found.root, scope.time_unit());
    let total_ns = found.whole.total_ns().max(1) as f64;
    TraceRow {
        id: id(found.trace),
        t: Number(t(scope, root.start_ns)),
        at: at(scope, root.start_ns),
        service: root.service.to_string(),
        operation: root.operation.to_string(),
        duration: ms(found.length_ns as f64, unit),
        answer: ms(root.duration.as_nanos() as f64, unit),
        place: places.place(root).map(values::share),
        errors: found.errors() as u32,
        spans: found.trace.spans.len() as u32,
        kept: found.trace.kept.as_str(),
        parts: Component::ALL.map(|part| Number(found.whole.part_ns(part) as f64 / total_ns)).into(),
    }
}

/// Returns the fastest, median and slowest of the traces, which are sorted by duration.
fn exemplars(found: &[Found<'_>], unit: Option<TimeUnit>) -> Vec<TraceExemplar> {
    let Some(last) = found.len().checked_sub(1) else { return Vec::new() };
    let exemplar = |(name, at): (&'static str, usize)| TraceExemplar {
        name,
        id: id(found[at].trace),
        duration: ms(found[at].length_ns as f64, unit),
    };
    [("fastest", last), ("typical", found.len() / 2), ("slowest", 0)].map(exemplar).into()
}

fn services(all: &[&Trace]) -> Vec<String> {
    let names = all.iter().flat_map(|trace| trace.spans.iter().map(|span| &*span.service));
    first_names(names.collect())
}

fn operations(all: &[&Trace]) -> Vec<String> {
    first_names(all.iter().filter_map(|trace| Some(&*trace.root()?.operation)).collect())
}

fn first_names(names: BTreeSet<&str>) -> Vec<String> {
    names.into_iter().take(NAMES_MAX).map(str::to_owned).collect()
}

/// Returns the traces that averages use, the unbiased sample if it has any, else all; and whether it is all.
fn averaged<'f, 'a>(found: &'f [Found<'a>]) -> (Vec<&'f Found<'a>>, bool) {
    let is_sampled = |found: &&Found<'_>| matches!(found.trace.kept, Kept::Sample { .. });
    let sampled: Vec<_> = found.iter().filter(is_sampled).collect();
    if sampled.is_empty() { (found.iter().collect(), !found.is_empty()) } else { (sampled, false) }
}

/// Returns the average time by owner.
fn average(found: &[&Found<'_>], unit: Option<TimeUnit>) -> Vec<TracePart> {
    let mut sum = Attribution::default();
    let mut traces = 0.0;
    for found in found {
        let weight = said::weight(found.trace);
        sum.add(&found.whole, weight);
        traces += weight;
    }
    let counts = |part: Component| found.iter().filter(|found| found.whole.part_ns(part) > 0).count() as u64;
    parts(&sum, traces, counts, unit)
}

fn stages(stages: &[Stage], unit: Option<TimeUnit>) -> Vec<StageRow> {
    let row = |stage: &Stage| StageRow {
        kind: stage.kind.as_str(),
        name: stage.name.clone(),
        traces: stage.traces as u64,
        mean: ms(stage.mean_ns, unit),
        p95: supported(stage.traces, stage.p95_ns, unit),
        share: values::share(stage.share),
    };
    stages.iter().map(row).collect()
}

fn supported(count: usize, p95_ns: u64, unit: Option<TimeUnit>) -> Value {
    if values::is_supported(count as u64, 0.95) {
        return ms(p95_ns as f64, unit);
    }
    values::unsupported()
}

/// Returns the difference between fast and slow traces with the most frequent root operation.
fn difference(found: &[Found<'_>], unit: Option<TimeUnit>) -> Option<SpeedDifference> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for one in found {
        *counts.entry(&one.root.operation).or_default() += 1;
    }
    let (operation, _) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    let those = found.iter().filter(|found| &*found.root.operation == operation);
    let said = said::fast_against_slow(those.map(|found| found.trace))?;
    let row = |one: &said::Difference| SpeedRow {
        service: one.service.to_string(),
        operation: one.operation.to_string(),
        kind: kind(one.kind),
        fast: ms(one.fast_ns, unit),
        slow: ms(one.slow_ns, unit),
        more: ms(one.slow_ns - one.fast_ns, unit),
    };
    let is_longer = |one: &&said::Difference| one.slow_ns > one.fast_ns;
    Some(SpeedDifference {
        operation: operation.to_owned(),
        fast: said.fast as u64,
        slow: said.slow as u64,
        fast_max: ms(said.fast_ns_max as f64, unit),
        slow_min: ms(said.slow_ns_min as f64, unit),
        rows: said.differences.iter().filter(is_longer).take(DIFFERENCES_MAX).map(row).collect(),
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use model::{MetricRegistry, OperationLoad, SpanKind, TagInterner};
    use runfile::{Ending, Header, Writer};
    use serde_json::{Value as Json, json};
    use server::View;

    use super::super::scope::Detail;
    use super::super::{Beside, of_run};
    use super::*;

    const MS: u64 = 1_000_000;

    fn span(id: u64, parent: Option<u64>, start_ms: u64, length_ms: u64) -> Span {
        Span {
            id,
            parent,
            kind: SpanKind::Server,
            service: "api".into(),
            operation: "POST /scan".into(),
            start_ns: (start_ms * MS) as i64,
            duration: Duration::from_millis(length_ms),
            status: SpanStatus::Unset,
            attributes: Vec::new(),
            links: Vec::new(),
        }
    }

    /// A request whose message waits and is processed; the trace's number determines the durations.
    fn trace(id: u64) -> Trace {
        let mut spans = vec![span(1, None, 0, 100), span(2, Some(1), 1_000 * id, 100)];
        spans[1].kind = SpanKind::Consumer;
        spans[1].service = "worker".into();
        spans[1].operation = "process vision".into();
        spans[1].attributes = vec![("messaging.destination.name".into(), "vision".to_owned())];
        if id == 3 {
            spans[1].status = SpanStatus::Error;
        }
        let kept = if id == 3 { Kept::Error } else { Kept::Sample { share: 0.25 } };
        Trace { id: id.into(), kept, spans }
    }

    fn load(service: &str, operation: &str, kind: SpanKind, ten: u32) -> OperationLoad {
        let mut durations = Values::default();
        (1..=300).for_each(|ms| durations.record(f64::from(ms)));
        OperationLoad {
            service: service.into(),
            operation: operation.into(),
            kind,
            ten,
            errors: 3,
            durations,
        }
    }

    /// Queries a run with three traces.
    fn ask(view: View, part: &str, query: &[(&str, &str)]) -> Json {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run.plimsoll");
        let (registry, tags) = (Arc::new(MetricRegistry::default()), Arc::new(TagInterner::default()));
        let mut writer = Writer::create(&path, &Header::default(), registry, tags).expect("a file");
        let loads = vec![
            load("api", "POST /scan", SpanKind::Server, 0),
            load("worker", "process vision", SpanKind::Consumer, 1),
            load("plimsoll", "the first page", SpanKind::Client, 1),
        ];
        writer.traces((1..=3).map(trace).collect(), loads);
        assert!(writer.finish(Ending::default()).error.is_none());
        let question = Question { part: part.to_owned(), ..Question::of_run(view, "ab12", query) };
        let scope = Scope::open(&path, &question, Detail::SERVED, Arc::default()).expect("a run");
        let answer = of_run(&scope, &question, &Beside::default()).expect("an answer");
        serde_json::from_str(&answer).expect("JSON")
    }

    #[track_caller]
    fn check(query: &[(&str, &str)], expect: &[&str]) {
        let answer = ask(View::Traces, "", query);
        let ids = answer["traces"].as_array().expect("a list").iter();
        let ids: Vec<&str> = ids.filter_map(|row| row["id"].as_str()?.get(31..)).collect();
        assert_eq!(ids, expect, "{query:?}");
        assert_eq!((&answer["total"], &answer["matching"]), (&json!(3), &json!(expect.len())));
    }

    #[test]
    fn traces_are_searched() {
        check(&[], &["3", "2", "1"]);
        check(&[("service", "worker")], &["3", "2", "1"]);
        check(&[("service", "other")], &[]);
        check(&[("operation", "process vision")], &[]);
        check(&[("operation", "POST /scan"), ("max_ms", "2100")], &["2", "1"]);
        check(&[("min_ms", "2100.5")], &["3"]);
        check(&[("status", "error")], &["3"]);
        check(&[("status", "ok")], &["2", "1"]);
        check(&[("kept", "error")], &["3"]);
        check(&[("q", "VISION")], &["3", "2", "1"]);
        check(&[("q", "nowhere")], &[]);
    }

    #[test]
    fn averages_are_of_the_unbiased_sample() {
        let answer = ask(View::Traces, "", &[]);
        assert_eq!((&answer["averaged"], &answer["isBiased"]), (&json!(2), &json!(false)));
        let parts = answer["parts"].as_array().expect("parts").iter();
        let parts: Vec<_> =
            parts.map(|part| (part["name"].as_str(), part["duration"]["text"].as_str())).collect();
        assert_eq!(parts, [(Some("target"), Some("200ms")), (Some("queue"), Some("1.4s"))]);
        let stages: Vec<_> =
            answer["stages"].as_array().expect("stages").iter().map(|row| &row["mean"]["text"]).collect();
        assert_eq!(stages, ["100ms", "1.4s", "100ms"]);
        assert_eq!(answer["mean"]["text"], "1.6s");
        assert_eq!(answer["sample"]["share"]["text"], "25.00%");
        assert_eq!(answer["traces"][0]["place"]["text"], "33.16%");
        assert_eq!(answer["exemplars"][2]["id"], "00000000000000000000000000000003");
        let biased = ask(View::Traces, "", &[("kept", "error")]);
        assert_eq!((&biased["averaged"], &biased["isBiased"]), (&json!(1), &json!(true)));
    }

    #[test]
    fn one_trace_is_drawn() {
        let answer = ask(View::Trace, "00000000000000000000000000000002", &[]);
        let kinds: Vec<_> = answer["rows"].as_array().expect("rows").iter().map(|row| &row["kind"]).collect();
        assert_eq!(kinds, ["span", "wait", "span"]);
        assert_eq!(
            (&answer["duration"]["text"], &answer["answer"]["text"]),
            (&json!("2.1s"), &json!("100ms"))
        );
    }

    #[test]
    fn services_are_told_of_all_spans_and_ways_of_the_sample() {
        let answer = ask(View::Services, "", &[]);
        let places = answer["places"].as_array().expect("places").iter();
        let places: Vec<_> = places.map(|place| place["key"].as_str().expect("a key")).collect();
        assert_eq!(places, ["outside:", "service:api", "service:worker", "queue:vision"]);
        assert_eq!(answer["operations"][0]["count"]["value"], json!(300));
        assert_eq!(answer["operations"][0]["failedShare"]["text"], "1.00%");
        let ways: Vec<_> = answer["edges"].as_array().expect("ways").iter().map(|way| &way["to"]).collect();
        assert_eq!(ways, ["service:api", "queue:vision", "service:worker"]);
        assert_eq!(answer["edges"][0]["count"]["text"], "3");
    }
}
