//! Server evidence of both sides beside each other: CPU, queries, spans and connection pools per request.
//!
//! These are facts without a verdict. A run's evidence is a few readings of a mean, whose variation from run to run is not known,
//! so a difference between them proves no change of the target.

use std::collections::{BTreeMap, BTreeSet};

use model::signal::label;
use model::{Kept, RecordKind, Signal, SignalId, Span, SpanKind, Trace};

use crate::diagnosis::{Level, own_traces, series};
use crate::traces::{database, request};

/// A service, database or pool has at least so many sampled traces; fewer show a few requests, not the mean of a run.
const TRACES_MIN: u64 = 10;

/// Maximum number of services, databases and pools that are shown. Evidence names any number.
const SUBJECTS_MAX: usize = 40;

/// CPU use in cores, the most specific source first. Several may report the same service.
const CPU: [SignalId; 3] = [SignalId::ContainerCpu, SignalId::ProcessCpu, SignalId::ListenerCpu];

/// Statements per second, where no statement is counted by itself.
const QUERIES: [SignalId; 3] = [SignalId::MysqlQueries, SignalId::Ops, SignalId::RedisCommands];

/// Signals of connection pools: in use, limit, waiting requests; one line per exporter.
const POOLS: [[SignalId; 3]; 3] = [
    [SignalId::PoolActive, SignalId::PoolActiveLimit, SignalId::PoolPending],
    [
        SignalId::DbClientConnectionUsed,
        SignalId::DbClientConnectionMax,
        SignalId::DbClientConnectionPendingRequests,
    ],
    [
        SignalId::DbClientConnectionsUsage,
        SignalId::DbClientConnectionsMax,
        SignalId::DbClientConnectionsPendingRequests,
    ],
];

/// The evidence of two sides beside each other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EvidenceComparison {
    /// The work that figures are per.
    pub per: WorkUnit,
    /// One per service, database or pool and figure, by subject.
    pub rows: Vec<EvidenceRow>,
    /// Services, databases and pools beyond the maximum.
    pub left_out: usize,
}

/// The unit of work that figures are divided by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WorkUnit {
    /// A request.
    #[default]
    Request,
    /// A task that is submitted with one request and polled with others. More polls per task are no cheaper requests.
    Task,
}

/// A figure of a service, database or pool on both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct EvidenceRow {
    /// The service, database or pool.
    pub subject: String,
    /// The figure.
    pub fact: Fact,
    /// The first side's; `None` if its evidence does not show it.
    pub a: Option<Reading>,
    /// The second side's.
    pub b: Option<Reading>,
}

/// A figure of server evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fact {
    /// CPU time per unit of work, milliseconds.
    CpuTime,
    /// Statements or commands per unit of work, counted by the database.
    Queries,
    /// Database calls per unit of work, counted in the traces of a service.
    TracedQueries,
    /// Spans per unit of work.
    Spans,
    /// Connections of a pool in use.
    PoolInUse,
    /// Wait for a connection per unit of work, milliseconds (Little's law: waiting requests over throughput).
    PoolWait,
}

/// The value of a figure: the mean of a side's runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// The value.
    pub value: f64,
    /// The limit of the value, where there is one.
    pub limit: Option<f64>,
}

impl EvidenceRow {
    /// Returns b divided by a; `None` where a side lacks it or the first is 0.
    pub fn ratio(&self) -> Option<f64> {
        let (a, b) = (self.a?.value, self.b?.value);
        (a > 0.0).then(|| b / a).filter(|ratio| ratio.is_finite())
    }
}

/// Compares the evidence of each of several sides with that of the first, all per the same unit of work. A side's figure is the mean
/// over its runs that show it.
pub fn compare_evidence(baseline: &[Level], others: &[&[Level]]) -> Vec<EvidenceComparison> {
    let per = unit(others.iter().copied().flatten().chain(baseline));
    let of_a = of_side(baseline, per);
    let compared = |other: &&[Level]| {
        let of_b = of_side(other, per);
        let keys: BTreeSet<&Key> = of_a.keys().chain(of_b.keys()).collect();
        let row = |key: &Key| {
            let (a, b) = same_way(of_a.get(key), of_b.get(key));
            EvidenceRow { subject: key.0.clone(), fact: key.1, a, b }
        };
        let (rows, left_out) = within_limit(keys.into_iter().map(row).collect());
        EvidenceComparison { per, rows, left_out }
    };
    others.iter().map(compared).collect()
}

/// Subject and figure.
type Key = (String, Fact);

/// A figure by the place of its source among the alternatives: a container's CPU, or that of its process.
type Ways = BTreeMap<usize, Reading>;

/// Tasks are the unit of work if every run with evidence has them: otherwise the sides would be divided by different things.
fn unit<'a>(levels: impl Iterator<Item = &'a Level>) -> WorkUnit {
    let is_observed = |level: &&Level| !level.evidence.is_empty() || !level.traces.is_empty();
    let mut levels = levels.filter(is_observed).peekable();
    let has_tasks = |level: &Level| level.tasks.as_ref().is_some_and(|tasks| tasks.done > 0);
    match levels.peek().is_some() && levels.all(has_tasks) {
        true => WorkUnit::Task,
        false => WorkUnit::Request,
    }
}

/// The figure of both sides by the first source that both have; if there is none, by the first of each side.
fn same_way(a: Option<&Ways>, b: Option<&Ways>) -> (Option<Reading>, Option<Reading>) {
    let (Some(a), Some(b)) = (a, b) else {
        let first = |ways: Option<&Ways>| ways.and_then(|ways| ways.values().next().copied());
        return (first(a), first(b));
    };
    match a.iter().find_map(|(way, of_a)| Some((*of_a, *b.get(way)?))) {
        Some((a, b)) => (Some(a), Some(b)),
        None => (a.values().next().copied(), b.values().next().copied()),
    }
}

/// Keeps the rows of some subjects, those of both sides first.
fn within_limit(rows: Vec<EvidenceRow>) -> (Vec<EvidenceRow>, usize) {
    let mut subjects: BTreeMap<&str, bool> = BTreeMap::new();
    for row in &rows {
        *subjects.entry(&row.subject).or_default() |= row.a.is_some() && row.b.is_some();
    }
    let mut order: Vec<(&str, bool)> = subjects.into_iter().collect();
    order.sort_by_key(|(_, is_shared)| !is_shared);
    let left_out = order.len().saturating_sub(SUBJECTS_MAX);
    order.truncate(SUBJECTS_MAX);
    let kept: BTreeSet<String> = order.into_iter().map(|(subject, _)| subject.to_owned()).collect();
    (rows.into_iter().filter(|row| kept.contains(&row.subject)).collect(), left_out)
}

/// The figures of a side's runs.
fn of_side(levels: &[Level], per: WorkUnit) -> BTreeMap<Key, Ways> {
    let mut all: BTreeMap<Key, BTreeMap<usize, Vec<Reading>>> = BTreeMap::new();
    for level in levels {
        for (key, way, reading) in of_run(level, per) {
            all.entry(key).or_default().entry(way).or_default().push(reading);
        }
    }
    let means = |ways: BTreeMap<usize, Vec<Reading>>| {
        ways.into_iter().filter_map(|(way, readings)| Some((way, mean_reading(&readings)?))).collect()
    };
    all.into_iter().map(|(key, ways)| (key, means(ways))).collect()
}

fn mean_reading(readings: &[Reading]) -> Option<Reading> {
    let value = mean(readings.iter().map(|reading| reading.value))?;
    let limits: Option<Vec<f64>> = readings.iter().map(|reading| reading.limit).collect();
    Some(Reading { value, limit: limits.and_then(|limits| mean(limits.into_iter())) })
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    (count > 0.0).then(|| sum / count)
}

/// The figures of one run, each with the place of its source.
fn of_run(level: &Level, per: WorkUnit) -> Vec<(Key, usize, Reading)> {
    let work = match (per, &level.tasks) {
        (WorkUnit::Task, Some(tasks)) => tasks.done,
        _ => level.requests.count,
    };
    let mut all = Vec::new();
    let mut add = |subject: String, fact, way, value: f64, limit: Option<f64>| {
        if value.is_finite() {
            all.push(((subject, fact), way, Reading { value, limit }));
        }
    };
    let per_work = |per_s: f64| (work > 0).then(|| per_s * level.length_s() / work as f64);
    for (way, id) in CPU.into_iter().enumerate() {
        for (subject, cores) in sums(level, id, service) {
            per_work(cores).into_iter().for_each(|s| add(subject.clone(), Fact::CpuTime, way, s * 1e3, None));
        }
    }
    for (subject, calls) in statements(level) {
        if work > 0 {
            add(subject, Fact::Queries, 0, calls / work as f64, None);
        }
    }
    for (way, id) in QUERIES.into_iter().enumerate() {
        for (subject, per_s) in sums(level, id, service) {
            per_work(per_s)
                .into_iter()
                .for_each(|count| add(subject.clone(), Fact::Queries, way + 1, count, None));
        }
    }
    for (way, [used, limit, pending]) in POOLS.into_iter().enumerate() {
        let limits = sums(level, limit, pool);
        for (subject, in_use) in sums(level, used, pool) {
            let limit = limits.get(&subject).copied();
            add(subject, Fact::PoolInUse, way, in_use, limit);
        }
        for (subject, waiting) in sums(level, pending, pool) {
            per_work(waiting)
                .into_iter()
                .for_each(|s| add(subject.clone(), Fact::PoolWait, way, s * 1e3, None));
        }
    }
    for (subject, counts) in traced(&level.traces, per) {
        add(subject.clone(), Fact::Spans, 0, counts.spans, None);
        if counts.queries > 0.0 {
            add(subject, Fact::TracedQueries, 0, counts.queries, None);
        }
    }
    all
}

/// The means of a signal over a run, added up over the replicas of each subject.
fn sums(level: &Level, id: SignalId, subject: fn(&Signal) -> String) -> BTreeMap<String, f64> {
    let mut sums = BTreeMap::new();
    for signal in level.series(id) {
        if let Some(mean) = series::mean(level, signal) {
            *sums.entry(subject(signal)).or_insert(0.0) += mean;
        }
    }
    sums
}

/// The service that a signal is about. Pods, instances and ports differ from run to run, so they are no part of it.
fn service(signal: &Signal) -> String {
    match series::label(signal, &[label::CONTAINER, label::JOB, label::PROGRAM]) {
        Some(name) => without_port(name).to_owned(),
        None => signal.source.clone(),
    }
}

/// `postgres` of `postgres:5432`.
fn without_port(name: &str) -> &str {
    match name.rsplit_once(':') {
        Some((program, port)) if !program.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => {
            program
        }
        _ => name,
    }
}

fn pool(signal: &Signal) -> String {
    match series::label(signal, &[label::POOL]) {
        Some(name) => format!("{} {name}", service(signal)),
        None => service(signal),
    }
}

/// The calls of all statements of each database. A database counts the statements that take the most time.
fn statements(level: &Level) -> BTreeMap<String, f64> {
    let mut calls = BTreeMap::new();
    let records = level.evidence.records.iter().filter(|record| record.kind == RecordKind::Statement);
    for record in records {
        if let Some(count) = series::number(record, "calls") {
            *calls.entry(record.source.clone()).or_insert(0.0) += count;
        }
    }
    calls
}

/// A service in traces, per unit of work.
#[derive(Clone, Copy, Debug, Default)]
struct Traced {
    spans: f64,
    queries: f64,
}

/// Counts the spans of services in the unbiased sample. Traces that are kept for being slow or failed show more than usual.
fn traced(traces: &[Trace], per: WorkUnit) -> BTreeMap<String, Traced> {
    let own = own_traces(traces);
    let sample: Vec<&&Trace> = own.iter().filter(|trace| matches!(trace.kept, Kept::Sample { .. })).collect();
    let is_work = |span: &&Span| span.is_own() && (request(span).is_some() == (per == WorkUnit::Request));
    let has_joined = sample.iter().any(|trace| trace.spans.iter().any(Span::is_own));
    let work: u64 = match has_joined {
        true => sample.iter().map(|trace| trace.spans.iter().filter(is_work).count() as u64).sum(),
        // Services that start traces of their own have one per request.
        false => sample.len() as u64,
    };
    let mut counts: BTreeMap<String, Traced> = BTreeMap::new();
    if work < TRACES_MIN {
        return counts;
    }
    for span in sample.iter().flat_map(|trace| &trace.spans).filter(|span| !span.is_own()) {
        let count = match counts.get_mut(&*span.service) {
            Some(count) => count,
            None => counts.entry(span.service.to_string()).or_default(),
        };
        count.spans += 1.0;
        count.queries += f64::from(u8::from(span.kind == SpanKind::Client && database(span).is_some()));
    }
    for count in counts.values_mut() {
        count.spans /= work as f64;
        count.queries /= work as f64;
    }
    counts
}

#[cfg(test)]
mod tests {
    use model::{Evidence, Record};

    use super::*;
    use crate::diagnosis::Tasks;
    use crate::diagnosis::testing::{asked, flat, level, record, request, sampled, with_evidence};

    /// The evidence of two sides.
    fn compare(a: &[Level], b: &[Level]) -> EvidenceComparison {
        compare_evidence(a, &[b]).pop().expect("one comparison")
    }

    /// A run of 10 s at 100 requests per second.
    fn run(signals: Vec<Signal>, records: Vec<Record>) -> Level {
        with_evidence(level(10, 100, 0.1), signals, records)
    }

    fn shop_pool(used: f64, limit: f64, waiting: f64) -> Level {
        let of = |name: &str, value| flat(name, &[], 10, value);
        run(
            vec![
                of("db_client_connection_used", used),
                of("db_client_connection_max", limit),
                of("db_client_connection_pending_requests", waiting),
            ],
            Vec::new(),
        )
    }

    fn row<'a>(found: &'a EvidenceComparison, subject: &str, fact: Fact) -> &'a EvidenceRow {
        let is_it = |row: &&EvidenceRow| row.subject == subject && row.fact == fact;
        found.rows.iter().find(is_it).unwrap_or_else(|| panic!("{subject} {fact:?} in {:?}", found.rows))
    }

    fn values(row: &EvidenceRow) -> (Option<f64>, Option<f64>) {
        let rounded = |reading: Reading| (reading.value * 1e6).round() / 1e6;
        (row.a.map(rounded), row.b.map(rounded))
    }

    #[test]
    fn a_pool_is_its_use_its_limit_and_its_wait() {
        let found = compare(&[shop_pool(5.0, 5.0, 7.1)], &[shop_pool(8.0, 20.0, 0.02)]);
        let used = row(&found, "source", Fact::PoolInUse);
        assert_eq!(
            (used.a, used.b),
            (Some(Reading { value: 5.0, limit: Some(5.0) }), Some(Reading { value: 8.0, limit: Some(20.0) }))
        );
        assert_eq!(used.ratio(), Some(1.6));
        // 7.1 requests wait at 100/s: 71 ms each.
        assert_eq!(values(row(&found, "source", Fact::PoolWait)), (Some(71.0), Some(0.2)));
    }

    #[test]
    fn cpu_is_added_up_over_replicas_and_compared_by_one_source() {
        let pod =
            |name: &str, pod: &str, cores| flat(name, &[("container", "cart"), ("pod", pod)], 10, cores);
        let a = run(vec![pod("container_cpu", "cart-1", 0.5), pod("process_cpu", "cart-1", 0.4)], Vec::new());
        let b = run(vec![pod("process_cpu", "cart-7", 0.3), pod("process_cpu", "cart-8", 0.3)], Vec::new());
        let found = compare(&[a], &[b]);
        // 0.4 and 0.6 cores at 100/s.
        assert_eq!(values(row(&found, "cart", Fact::CpuTime)), (Some(4.0), Some(6.0)));
        assert_eq!(found.rows.len(), 1, "{:?}", found.rows);
    }

    #[test]
    fn ports_are_no_part_of_a_program() {
        let program = |name: &str| run(vec![flat("listener_cpu", &[("program", name)], 10, 1.0)], Vec::new());
        let found = compare(&[program("postgres:5432")], &[program("postgres:5433")]);
        assert_eq!(values(row(&found, "postgres", Fact::CpuTime)), (Some(10.0), Some(10.0)));
    }

    #[test]
    fn statements_are_counted_per_request() {
        let of = |calls: f64| {
            let one = |text: &str, calls| record(RecordKind::Statement, text, &[("calls", calls)]);
            run(vec![flat("ops", &[], 10, 5.0)], vec![one("select 1", calls), one("select 2", 1000.0)])
        };
        let found = compare(&[of(1000.0)], &[of(11_000.0)]);
        assert_eq!(values(row(&found, "source", Fact::Queries)), (Some(2.0), Some(12.0)));
        assert_eq!(row(&found, "source", Fact::Queries).ratio(), Some(6.0));
    }

    #[test]
    fn only_one_side_is_no_ratio_and_neither_is_no_row() {
        let found = compare(&[shop_pool(5.0, 5.0, 7.1)], &[run(Vec::new(), Vec::new())]);
        let used = row(&found, "source", Fact::PoolInUse);
        assert!(used.a.is_some() && used.b.is_none() && used.ratio().is_none(), "{used:?}");
        assert_eq!(compare(&[level(10, 100, 0.1)], &[level(10, 100, 0.1)]).rows, []);
        assert_eq!(compare(&[], &[]), EvidenceComparison::default());
        let idle = compare(&[level(0, 0, 0.1)], &[Level::default()]);
        assert_eq!(idle.rows, [], "nothing is divided by no requests");
    }

    /// So many requests, each with so many queries.
    fn queried(requests: u128, queries: usize) -> Level {
        let trace = |number| {
            let below: Vec<(&str, f64, f64)> = (0..queries).map(|at| ("select 1", at as f64, 1.0)).collect();
            sampled(number, asked(100.0, request("checkout", "POST /", 90.0, &below)))
        };
        Level { traces: (0..requests).map(trace).collect(), ..level(10, 100, 0.1) }
    }

    #[test]
    fn traces_show_queries_and_spans_per_request() {
        let found = compare(&[queried(20, 11)], &[queried(30, 1)]);
        assert_eq!(values(row(&found, "checkout", Fact::TracedQueries)), (Some(11.0), Some(1.0)));
        assert_eq!(values(row(&found, "checkout", Fact::Spans)), (Some(12.0), Some(2.0)));
        assert_eq!(compare(&[queried(9, 1)], &[queried(9, 1)]).rows, [], "nine traces are too few");
    }

    #[test]
    fn slow_traces_alone_show_no_mean() {
        let slow = |level: Level| {
            let traces = level.traces.into_iter().map(|trace| Trace { kept: Kept::Slowest, ..trace });
            Level { traces: traces.collect(), ..Level::default() }
        };
        assert_eq!(compare(&[slow(queried(20, 11))], &[slow(queried(20, 1))]).rows, []);
    }

    #[test]
    fn tasks_are_the_work_where_all_runs_have_them() {
        let polled = |done, requests| {
            let tasks = Some(Tasks { done, ..Tasks::default() });
            let mut level = run(vec![flat("process_cpu", &[], 10, 1.0)], Vec::new());
            level.requests.count = requests;
            Level { tasks, ..level }
        };
        let found = compare(&[polled(100, 5000)], &[polled(100, 900)]);
        assert_eq!(found.per, WorkUnit::Task);
        assert_eq!(values(row(&found, "source", Fact::CpuTime)), (Some(100.0), Some(100.0)));
        let plain = run(vec![flat("process_cpu", &[], 10, 1.0)], Vec::new());
        let mixed = compare(&[polled(100, 5000)], &[plain]);
        assert_eq!(mixed.per, WorkUnit::Request);
    }

    #[test]
    fn many_services_are_bounded_and_counted() {
        let many = |first: usize| {
            let of = |at: usize| flat("process_cpu", &[("job", &format!("service-{at}"))], 10, 1.0);
            run((first..first + 100).map(of).collect(), Vec::new())
        };
        let found = compare(&[many(0)], &[many(90)]);
        assert_eq!((found.rows.len(), found.left_out), (SUBJECTS_MAX, 190 - SUBJECTS_MAX));
        assert_eq!(
            found.rows.iter().filter(|row| row.ratio().is_some()).count(),
            10,
            "those of both sides stay"
        );
    }

    #[test]
    fn several_runs_of_a_side_are_their_mean() {
        let found =
            compare(&[shop_pool(4.0, 8.0, 1.0), shop_pool(6.0, 8.0, 3.0)], &[shop_pool(5.0, 8.0, 2.0)]);
        assert_eq!(values(row(&found, "source", Fact::PoolWait)), (Some(20.0), Some(20.0)));
        let other = Evidence::default();
        let unobserved = Level { evidence: other, ..level(10, 100, 0.1) };
        let half = compare(&[shop_pool(4.0, 8.0, 1.0), unobserved], &[shop_pool(4.0, 8.0, 1.0)]);
        assert_eq!(row(&half, "source", Fact::PoolInUse).ratio(), Some(1.0));
    }
}
