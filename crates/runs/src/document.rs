//! A stored run as the document that reports are made of.

use std::collections::BTreeMap;
use std::time::Duration;

use analysis::traces::{Attribution, Tree, answer_path, attribute, request};
use model::metric::builtin::{HTTP_REQ_DURATION, HTTP_REQ_FAILED, HTTP_REQS};
use model::{Aggregate, Epoch, Exemplar, ExemplarKind, Instant, MetricKind, TagSet, Trace, Validity, Window};
use report::RunReport;
use report::document::{
    Agent, CanSend, DropEntry, Endpoint, ErrorEntry, Errors, ExemplarEntry, Generator, Identity, LogTail,
    Milestone, Outcome, RunState, TimeRange,
};
use report::summary::{Statistic, SummaryInput, Values};
use runfile::{Header, Reader, State, StoredLog};

use super::{between, collected, collected_in, drop_cause, failed, summary_facts, summary_of, time_unit};
use crate::Failure;
use crate::study;
use crate::validity::StoredFacts;

/// Maximum number of exemplars of each kind in a report.
const EXEMPLARS_MAX: usize = 10;

/// The mark for samples that exports lost.
const SAMPLES_LOST: &str = "samples_lost";

/// Maximum number of log lines in a report; the last ones are kept.
const LOG_LINES_MAX: u64 = 100;

/// Builds the report document of a run, or of the part that `window` sums up.
///
/// # Errors
/// The file is damaged.
pub fn document(
    reader: &Reader,
    window: &Window,
    elapsed: Duration,
    part: Option<std::ops::Range<u32>>,
) -> Result<RunReport, Failure> {
    let facts = StoredFacts::read_part(reader, window, part.clone())?;
    let judged = Judged { validity: facts.judge(window), busiest_per_s: facts.busiest_per_s() };
    let all = reader.range().map_err(|error| failed(&error))?;
    let traces = reader.traces().map_err(|error| failed(&error))?;
    let traces = between(&traces, window.start, window.end);
    let evidence = collected_in(reader, collected(reader)?.into(), &traces, zero(reader, all)?, window);
    Ok(RunReport { evidence, ..document_judged(reader, window, elapsed, part, judged)? })
}

/// Results of judging a run second by second.
pub struct Judged {
    /// The validity of the measurement.
    pub validity: Validity,
    /// Requests per second in the busiest second; `None` if not computed yet.
    pub busiest_per_s: Option<f64>,
}

/// Builds the document from seconds that are judged already, without server-side evidence, which the page requests separately.
///
/// # Errors
/// The file is damaged.
pub fn document_judged(
    reader: &Reader,
    window: &Window,
    elapsed: Duration,
    part: Option<std::ops::Range<u32>>,
    judged: Judged,
) -> Result<RunReport, Failure> {
    let header = reader.header();
    let facts = summary_facts(header);
    let all = reader.range().map_err(|error| failed(&error))?;
    let (zero, shown) = (zero(reader, all.clone())?, part.clone().unwrap_or(all));
    Ok(RunReport {
        identity: identity(reader, header, elapsed)?,
        state: match reader.state() {
            State::Live => RunState::Live,
            State::Partial => RunState::Partial,
            State::Complete => RunState::Complete,
        },
        window: part
            .as_ref()
            .map(|_| TimeRange { from: window.start.since(zero), to: window.end.since(zero) }),
        outcome: outcome(reader),
        summary: SummaryInput { validity: Some(judged.validity), ..summary_of(reader, window, elapsed)? },
        time_unit: time_unit(header),
        compat: facts.compat,
        endpoints: endpoints(reader, window, &facts.trend_stats, elapsed),
        errors: errors(window),
        exemplars: exemplars(reader, shown.clone(), zero)?,
        drops: drops(reader),
        generator: generator(reader),
        environment: environment(reader),
        can_send: can_send(reader, shown, judged.busiest_per_s)?,
        options: serde_json::from_str(&header.options_json).ok(),
        log: log_tail(reader)?,
        imported: header.imported.as_deref().map(super::imported::of_report),
        timeline: timeline(reader, zero)?,
        ..RunReport::default()
    })
}

/// Returns the start of the first window, the zero of the run's time axis.
fn zero(reader: &Reader, all: std::ops::Range<u32>) -> Result<Instant, Failure> {
    let first = reader.spans(all.start..all.start.saturating_add(1)).map_err(|error| failed(&error))?;
    Ok(first.first().map_or(Instant::from_ns(reader.header().started_ns), |(_, span)| span.start))
}

/// Returns the events of the whole run. Losses are reported with the generator.
fn timeline(reader: &Reader, zero: Instant) -> Result<Vec<Milestone>, Failure> {
    let marks = reader.marks().map_err(|error| failed(&error))?;
    let marks = marks.into_iter().filter(|mark| mark.kind != SAMPLES_LOST);
    Ok(marks.map(|mark| Milestone { at: mark.at.since(zero), kind: mark.kind, text: mark.text }).collect())
}

fn identity(reader: &Reader, header: &Header, elapsed: Duration) -> Result<Identity, Failure> {
    let notes = reader.notes().map_err(|error| failed(&error))?;
    let tags = header.tags.iter().map(|(name, value)| (name.clone(), value.clone()));
    Ok(Identity {
        id: header.run_id.clone(),
        name: header.name.clone().unwrap_or_default(),
        script: header.script.clone(),
        started_unix_ns: header.started_wall_ns,
        elapsed,
        plimsoll_version: version(header),
        // No lookup in the script's folder: the commit of another repository there could be mistaken for the script's.
        commit: String::new(),
        is_dirty: false,
        target_version: header.target_version.clone().unwrap_or_default(),
        tags: tags.collect(),
        notes: notes.into_iter().map(|note| note.text).collect(),
        step: header.study.as_deref().map(|facts| (facts.load, study::unit(facts))),
    })
}

/// Returns the version and its build as a semantic version, for example `0.1.0+ab12cd34ef56.dirty`.
fn version(header: &Header) -> String {
    let commit = header.commit.as_ref();
    let built = commit.map(|commit| format!("+{}{}", commit.hash, if commit.dirty { ".dirty" } else { "" }));
    format!("{}{}", header.version, built.unwrap_or_default())
}

fn outcome(reader: &Reader) -> Option<Outcome> {
    let ending = reader.ending().filter(|_| reader.header().imported.is_none())?;
    Some(Outcome {
        exit_code: u8::try_from(ending.exit_code).unwrap_or(u8::MAX),
        message: ending.aborted.clone().unwrap_or_default(),
    })
}

/// Sums per endpoint.
struct EndpointCell {
    requests: u64,
    failed: u64,
    duration: Aggregate,
}

/// Returns all endpoints, at most one per tag set. Formats that cut the list say so themselves.
fn endpoints(reader: &Reader, window: &Window, stats: &[String], elapsed: Duration) -> Vec<Endpoint> {
    let mut cells: BTreeMap<(String, String), EndpointCell> = BTreeMap::new();
    for (key, aggregate) in &window.series {
        if ![HTTP_REQS, HTTP_REQ_FAILED, HTTP_REQ_DURATION].contains(&key.metric) {
            continue;
        }
        let set = reader.tags().get(key.tags);
        let place = (tag(&set, "method"), tag(&set, "name"));
        let cell = cells.entry(place).or_insert_with(|| EndpointCell {
            requests: 0,
            failed: 0,
            duration: Aggregate::empty(MetricKind::Trend),
        });
        match aggregate {
            Aggregate::Counter(counter) => cell.requests += counter.count,
            Aggregate::Rate(rate) => cell.failed += rate.passes,
            Aggregate::Trend(_) => cell.duration.merge(aggregate),
            Aggregate::Gauge(_) => {}
        }
    }
    let endpoint = |((method, name), cell): ((String, String), EndpointCell)| Endpoint {
        method,
        name,
        requests: cell.requests,
        failed: cell.failed,
        duration: match cell.duration.is_empty() {
            true => Values::NotApplicable("no samples"),
            false => Values::from_aggregate(&cell.duration, stats, elapsed),
        },
    };
    cells.into_iter().map(endpoint).collect()
}

fn tag(set: &TagSet, name: &str) -> String {
    set.get(name).unwrap_or_default().to_owned()
}

fn errors(window: &Window) -> Errors {
    // An empty message stands for all errors beyond the distinct ones that were kept.
    let (distinct, beyond): (Vec<_>, Vec<_>) =
        window.errors.iter().partition(|error| !error.message.is_empty());
    let entry = |error: &model::ErrorCount| ErrorEntry {
        code: error.code,
        message: error.message.to_string(),
        count: error.count,
        example: error.example.to_string(),
    };
    Errors {
        distinct: distinct.into_iter().map(entry).collect(),
        beyond: beyond.iter().map(|error| error.count).sum(),
    }
}

fn exemplars(
    reader: &Reader,
    range: std::ops::Range<u32>,
    zero: Instant,
) -> Result<Vec<ExemplarEntry>, Failure> {
    let mut all = reader.exemplars(range).map_err(|error| failed(&error))?;
    all.sort_by(|a, b| b.value.total_cmp(&a.value).then(a.at.cmp(&b.at)));
    let of_kind = |kind| all.iter().filter(move |exemplar| exemplar.kind == kind).take(EXEMPLARS_MAX);
    let chosen = of_kind(ExemplarKind::Slowest).chain(of_kind(ExemplarKind::Failed));
    chosen.map(|exemplar| entry(reader, exemplar, zero)).collect()
}

fn entry(reader: &Reader, exemplar: &Exemplar, zero: Instant) -> Result<ExemplarEntry, Failure> {
    let trace = match exemplar.trace_id {
        Some(id) => reader.trace(id).map_err(|error| failed(&error))?,
        None => None,
    };
    let set = reader.tags().get(exemplar.tags);
    let more = |name: &str| {
        let pairs = exemplar.metadata.as_deref().unwrap_or_default();
        pairs.iter().find(|(key, _)| &**key == name).map(|(_, value)| value.to_string())
    };
    Ok(ExemplarEntry {
        kind: exemplar.kind,
        at: exemplar.at.since(zero),
        duration: Statistic::new(exemplar.value, exemplar.mark),
        method: tag(&set, "method"),
        url: more("url").unwrap_or_else(|| tag(&set, "name")),
        status: tag(&set, "status"),
        trace_id: exemplar.trace_id,
        is_trace_kept: trace.is_some(),
        whole: trace.as_ref().and_then(whole),
        error: more("error").unwrap_or_else(|| tag(&set, "error")),
    })
}

/// Returns the time of a request by owner, for traces that begin with the client's span. The time of a task covers more than one
/// request.
fn whole(trace: &Trace) -> Option<Attribution> {
    let tree = Tree::new(trace);
    request(&trace.spans[tree.root()?])?;
    Some(attribute(&tree, &answer_path(&tree), None))
}

fn drops(reader: &Reader) -> Vec<DropEntry> {
    let scenarios = &reader.header().report.scenarios;
    let entry = |drops: &runfile::Drops| {
        Some(DropEntry {
            scenario: scenarios.get(usize::from(drops.scenario))?.name.clone(),
            cause: drop_cause(&drops.cause)?,
            count: drops.count,
        })
    };
    reader.ending().map_or_else(Vec::new, |ending| ending.drops.iter().filter_map(entry).collect())
}

fn generator(reader: &Reader) -> Generator {
    let small = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    let ending = reader.ending();
    Generator {
        workers: reader.header().host.workers,
        workers_lost: ending.map_or(0, |ending| small(ending.workers_lost)),
        samples_lost: ending.map_or(0, |ending| ending.samples_lost),
        windows_lost: ending.map_or(0, |ending| ending.windows_lost),
        agents: reader.header().agents.iter().map(|row| agent(reader, row)).collect(),
    }
}

fn agent(reader: &Reader, row: &runfile::AgentRow) -> Agent {
    let started_ns = reader.header().started_ns;
    let offset = |ns: u64| Duration::from_nanos(ns.saturating_sub(started_ns));
    let ran_s = row.ran_ns as f64 / 1e9;
    let per_s = |count: u64| count as f64 / ran_s;
    let parts = f64::from(row.parts.max(1)) * row.shares.max(1) as f64;
    Agent {
        name: row.name.clone(),
        share: if row.parts == 0 { 0.0 } else { 1.0 / parts },
        state: model::AgentState::named(&row.state).unwrap_or_default(),
        rates: (row.due > 0 && ran_s > 0.0).then(|| (per_s(row.due), per_s(row.achieved))),
        cpu_max: row.cpu_max,
        lateness_p99_ms: row.lateness_p99_ms,
        missing: row.lost_ns.map(|from| (offset(from), row.continued_ns.map(offset))),
        doubts: row.doubts.clone(),
    }
}

fn environment(reader: &Reader) -> Vec<(String, String)> {
    let header = reader.header();
    let host = &header.host;
    let mebibytes = |bytes: u64| format!("{} MiB", bytes >> 20);
    if header.imported.is_some() {
        return Vec::new();
    }
    let mut facts = vec![
        ("host".to_owned(), host.name.clone()),
        ("system".to_owned(), format!("{} {}", host.system, host.kernel)),
        ("cores".to_owned(), host.cores.to_string()),
        ("memory".to_owned(), mebibytes(host.memory_bytes)),
    ];
    facts.extend(host.memory_limit_bytes.map(|bytes| ("memory limit".to_owned(), mebibytes(bytes))));
    if !header.segment.is_empty() {
        facts.push(("execution segment".to_owned(), header.segment.clone()));
    }
    if !header.merged_from.is_empty() {
        facts.push(("merged from".to_owned(), header.merged_from.join(", ")));
    }
    let hidden = || redact::SET.to_owned();
    let variable = |variable: &runfile::EnvVar| {
        (format!("__ENV.{}", variable.name), variable.value.clone().unwrap_or_else(hidden))
    };
    facts.extend(header.environment.iter().map(variable));
    facts
}

/// Returns the calibrated maximum of the machine; `None` for runs of other tools or without calibration.
fn can_send(
    reader: &Reader,
    range: std::ops::Range<u32>,
    busiest_per_s: Option<f64>,
) -> Result<Option<CanSend>, Failure> {
    let Some(known) =
        reader.header().host.calibration.as_ref().filter(|_| reader.header().imported.is_none())
    else {
        return Ok(None);
    };
    Ok(Some(CanSend {
        rate_per_s: known.rate_per_s,
        is_lower_bound: known.is_lower_bound,
        cpu_per_request_ns: known.cpu_per_request_ns,
        measured_unix_ns: known.measured_unix_s.saturating_mul(1_000_000_000),
        busiest_per_s: busiest_per_s.map_or_else(|| busiest(reader, range), Ok)?,
    }))
}

/// Returns the requests per second in the busiest second.
fn busiest(reader: &Reader, range: std::ops::Range<u32>) -> Result<f64, Failure> {
    let mut busiest_per_s: f64 = 0.0;
    for window in reader.windows_of(range, &[HTTP_REQS]) {
        let window = window.map_err(|error| failed(&error))?;
        busiest_per_s = busiest_per_s.max(super::calibration::requests_per_s(&window).unwrap_or(0.0));
    }
    Ok(busiest_per_s)
}

fn log_tail(reader: &Reader) -> Result<LogTail, Failure> {
    let before = reader.log_count().map_err(|error| failed(&error))?.saturating_sub(LOG_LINES_MAX);
    let lines = reader.log_after(before, LOG_LINES_MAX).map_err(|error| failed(&error))?;
    let epoch = Epoch {
        at: Instant::from_ns(reader.header().started_ns),
        wall_unix_ns: reader.header().started_wall_ns,
    };
    let text = |line: &StoredLog| {
        let time = api::rfc3339(epoch.wall_unix_ns(line.at) / 1_000_000_000 * 1_000_000_000);
        format!("{time} {} {}", line.level.as_str(), line.message)
    };
    Ok(LogTail { lines: lines.iter().map(text).collect(), before })
}
