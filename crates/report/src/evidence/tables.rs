//! Tables: queues, statements, waits, tasks, configuration.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use api::page::{Fact, QueueRow, StatementRow, Subject, TaskRow, WaitRow};
use model::signal::label;
use model::{Record, RecordKind, Signal, SignalId};

use super::lanes::{Points, peak};
use super::{EvidenceView, facts, number_of, second, units};

/// Rows of a table.
const ROWS_MAX: usize = 200;

/// Characters of a statement: what is longer is cut.
const STATEMENT_CHARS_MAX: usize = 4_000;

/// Names of what a statement took, the unit last.
const TOTAL_MS: &[&str] = &["total_ms", "time_ms"];

/// Returns one row per queue name that has message or consumer counts. A broker and a Prometheus that scrapes it report the same
/// queue, so both contribute to one row.
pub(super) fn queues(view: &EvidenceView, beyond: &mut u64) -> Vec<QueueRow> {
    let mut queues: BTreeMap<Queue<'_>, HashMap<&str, Points>> = BTreeMap::new();
    for signal in view.all.signals.iter().filter(|signal| signal.name.as_str().starts_with("queue_")) {
        let points = view.clipped(signal);
        if signal.labels.contains_key(label::QUEUE) && !points.is_empty() {
            queues.entry((&signal.source, &signal.labels)).or_default().insert(signal.name.as_str(), points);
        }
    }
    let mut named: BTreeMap<String, Vec<Counted<'_>>> = BTreeMap::new();
    for ((source, labels), signals) in queues {
        named.entry(queue_name(labels)).or_default().push((source, signals));
    }
    let kinds = view.kinds();
    let rows = named.into_iter().flat_map(|(name, counted)| rows_of(&name, counted, &kinds));
    cut(rows.collect(), beyond)
}

/// Source of a queue and all its labels, since two brokers may have queues of the same name.
type Queue<'a> = (&'a str, &'a BTreeMap<String, String>);

/// The counts of a queue by one source.
type Counted<'a> = (&'a str, HashMap<&'a str, Points>);

/// The name with its virtual host, as RabbitMQ's own source has it.
fn queue_name(labels: &BTreeMap<String, String>) -> String {
    let name = labels.get(label::QUEUE).map_or("", String::as_str);
    match labels.get(label::VIRTUAL_HOST).map(String::as_str) {
        None | Some("" | "/") => name.to_owned(),
        Some(host) => format!("{host}/{name}"),
    }
}

/// One row of all sources, unless two of them are of one kind: those are asked about different brokers.
fn rows_of(name: &str, mut counted: Vec<Counted<'_>>, kinds: &HashMap<&str, &str>) -> Vec<QueueRow> {
    let of_kinds: BTreeSet<&str> =
        counted.iter().map(|(source, _)| kinds.get(source).copied().unwrap_or(source)).collect();
    if of_kinds.len() < counted.len() {
        return counted.iter().map(|(source, signals)| queue(name, &[*source], signals)).collect();
    }
    // Who looked more often saw more of the peaks.
    counted
        .sort_by_key(|(_, signals)| Reverse(signals.get(SignalId::QueueReady.as_str()).map_or(0, Vec::len)));
    let sources: Vec<&str> = counted.iter().map(|(source, _)| *source).collect();
    let mut all = HashMap::new();
    for (signal, points) in counted.into_iter().flat_map(|(_, signals)| signals) {
        all.entry(signal).or_insert(points);
    }
    vec![queue(name, &sources, &all)]
}

fn queue(name: &str, sources: &[&str], signals: &HashMap<&str, Points>) -> QueueRow {
    let of = |id: SignalId| signals.get(id.as_str()).map_or(&[][..], Vec::as_slice);
    let (ready, consumers) = (of(SignalId::QueueReady), of(SignalId::QueueConsumers));
    let plain = |value: Option<f64>| units::optional(value, "default");
    let values = |points: &[(f64, f64)]| points.iter().map(|point| point.1).collect::<Vec<_>>();
    let most = |points: &[(f64, f64)]| values(points).into_iter().reduce(f64::max);
    let highest = (!ready.is_empty()).then(|| peak(ready));
    let utilisation = values(of(SignalId::QueueUtilisation));
    let mean = utilisation.iter().sum::<f64>() / utilisation.len() as f64;
    QueueRow {
        sources: sources.iter().map(|source| (*source).to_owned()).collect(),
        queue: name.to_owned(),
        start: plain(ready.first().map(|point| point.1)),
        peak: plain(highest.map(|peak| peak.1)),
        peak_t: second(highest.map(|peak| peak.0)),
        peak_clock: highest.map_or_else(String::new, |peak| units::clock(peak.0)),
        end: plain(ready.last().map(|point| point.1)),
        unacked_peak: plain(most(of(SignalId::QueueUnacked))),
        consumers_min: plain(values(consumers).into_iter().reduce(f64::min)),
        consumers_max: plain(most(consumers)),
        consumers_steady: plain(steady(consumers)),
        prefetch: plain(most(of(SignalId::QueuePrefetch))),
        utilisation: units::optional((!utilisation.is_empty()).then_some(mean), "share"),
    }
}

/// The value that held for most of the time, each until the next one.
fn steady(points: &[(f64, f64)]) -> Option<f64> {
    let mut held: Vec<(f64, f64)> = Vec::new();
    for pair in points.windows(2) {
        let (value, length) = (pair[0].1, pair[1].0 - pair[0].0);
        match held.iter_mut().find(|known| known.0 == value) {
            Some(known) => known.1 += length,
            None => held.push((value, length)),
        }
    }
    let longest = held.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).map(|held| held.0);
    longest.or(points.last().map(|point| point.1))
}

/// The statements, what took most of the time of its source first.
pub(super) fn statements(view: &EvidenceView, beyond: &mut u64) -> Vec<StatementRow> {
    let mut totals: HashMap<&str, f64> = HashMap::new();
    let mut all: Vec<(&Record, f64)> = Vec::new();
    for record in view.of_kind(RecordKind::Statement) {
        let total = number_of(record, TOTAL_MS).unwrap_or(0.0);
        *totals.entry(&record.source).or_default() += total;
        all.push((record, total));
    }
    all.sort_by(|a, b| b.1.total_cmp(&a.1));
    let row = |(record, total): (&Record, f64)| {
        let all_ms = totals.get(record.source.as_str()).copied().unwrap_or(0.0);
        statement(record, (all_ms > 0.0).then(|| total / all_ms))
    };
    cut(all.into_iter().map(row).collect(), beyond)
}

fn statement(record: &Record, share: Option<f64>) -> StatementRow {
    const CALLS: &[&str] = &["calls"];
    const MEAN_MS: &[&str] = &["mean_ms"];
    const HIT: &[&str] = &["blocks_hit"];
    const READ: &[&str] = &["blocks_read"];
    // A source that counts all statements knows the share better than the sum of those listed.
    const SHARE: &[&str] = &["share_of_db_time"];
    let (calls, total) = (number_of(record, CALLS), number_of(record, TOTAL_MS));
    let mean = calls.zip(total).filter(|(calls, _)| *calls > 0.0).map(|(calls, total)| total / calls);
    let is_else =
        |fact: &Fact| ![CALLS, TOTAL_MS, MEAN_MS, HIT, READ, SHARE].concat().contains(&fact.name.as_str());
    StatementRow {
        source: record.source.clone(),
        text: shortened(&record.subject),
        calls: units::optional(calls, "default"),
        total: units::optional(total, "time"),
        mean: units::optional(mean.or(number_of(record, MEAN_MS)), "time"),
        share: units::optional(number_of(record, SHARE).or(share), "share"),
        blocks_hit: units::optional(number_of(record, HIT), "default"),
        blocks_read: units::optional(number_of(record, READ), "default"),
        facts: facts(record).into_iter().filter(is_else).collect(),
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(STATEMENT_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Sessions by wait event, on average over the instants of the samples.
pub(super) fn waits(view: &EvidenceView, beyond: &mut u64) -> Vec<WaitRow> {
    let mut sources: BTreeMap<&str, Vec<(&Signal, Points)>> = BTreeMap::new();
    for signal in view.all.signals.iter().filter(|signal| signal.name == SignalId::ActiveSessions) {
        let points = view.clipped(signal);
        if !points.is_empty() {
            sources.entry(&signal.source).or_default().push((signal, points));
        }
    }
    cut(sources.into_values().flat_map(|signals| waits_of(&signals)).collect(), beyond)
}

fn waits_of(signals: &[(&Signal, Points)]) -> Vec<WaitRow> {
    let instants: std::collections::HashSet<u64> =
        signals.iter().flat_map(|(_, points)| points.iter().map(|point| point.0.to_bits())).collect();
    let looks = instants.len().max(1) as f64;
    let mean = |points: &Points| points.iter().map(|point| point.1).sum::<f64>() / looks;
    let all: f64 = signals.iter().map(|(_, points)| mean(points)).sum();
    let mut rows: Vec<(f64, WaitRow)> = signals
        .iter()
        .map(|(signal, points)| {
            let text = |name: &str| signal.labels.get(name).cloned().unwrap_or_default();
            let mean = mean(points);
            let row = WaitRow {
                source: signal.source.clone(),
                kind: text(label::WAIT_TYPE),
                event: text(label::WAIT_EVENT),
                mean: units::value(mean, "default"),
                peak: units::value(peak(points).1, "default"),
                share: units::optional((all > 0.0).then(|| mean / all), "share"),
            };
            (mean, row)
        })
        .collect();
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    rows.into_iter().map(|(_, row)| row).collect()
}

/// Kinds of tasks, in the order of the records.
pub(super) fn tasks(view: &EvidenceView, beyond: &mut u64) -> Vec<TaskRow> {
    let row = |record: &Record| {
        let ms = |names: &[&str]| units::optional(number_of(record, names), "time");
        TaskRow {
            source: record.source.clone(),
            task: record.subject.clone(),
            count: units::optional(number_of(record, &["count"]), "default"),
            min: ms(&["min_ms"]),
            avg: ms(&["avg_ms", "mean_ms"]),
            p95: ms(&["p95_ms"]),
            max: ms(&["max_ms"]),
        }
    };
    cut(view.of_kind(RecordKind::Task).map(row).collect(), beyond)
}

/// Facts by their subject.
pub(super) fn subjects(view: &EvidenceView, kind: RecordKind, beyond: &mut u64) -> Vec<Subject> {
    cut(view.of_kind(kind).map(|record| view.subject(record)).collect(), beyond)
}

/// Cuts a table to the maximum number of rows and counts the others.
fn cut<Row>(mut rows: Vec<Row>, beyond: &mut u64) -> Vec<Row> {
    *beyond += rows.len().saturating_sub(ROWS_MAX) as u64;
    rows.truncate(ROWS_MAX);
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_held_longest_is_steady() {
        assert_eq!(steady(&[(0.0, 1.0), (14.0, 3.0), (200.0, 2.0), (204.0, 2.0)]), Some(3.0));
        assert_eq!(steady(&[(0.0, 4.0)]), Some(4.0));
        assert_eq!(steady(&[]), None);
    }

    #[test]
    fn long_statements_are_cut_between_characters() {
        let long = "가".repeat(STATEMENT_CHARS_MAX + 1);
        assert_eq!(shortened(&long).chars().count(), STATEMENT_CHARS_MAX + 1);
        assert_eq!(shortened("SELECT 1"), "SELECT 1");
    }
}
