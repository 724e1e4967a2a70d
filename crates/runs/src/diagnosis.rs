//! Stored runs as input of the diagnosis.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use analysis::diagnosis::{Case, Level, Requests, Second, Tasks, diagnose};
use analysis::laws::retransmission::{count_above_zero, retransmitted};
use api::diagnosis::DiagnosisReport;
use model::diagnosis::Refusal;
use model::metric::builtin::{
    DATA_RECEIVED, HTTP_REQ_CONNECTING, HTTP_REQ_DURATION, HTTP_REQ_FAILED, HTTP_REQ_RECEIVING,
    HTTP_REQ_WAITING, VUS,
};
use model::{
    Aggregate, Brief, Datum, Diagnosis, Evidence, Instant, MetricId, Quantile, Record, RecordKind, SeriesKey,
    Signal, SignalId, SystemTag, TagInterner, TagSet, Trend, Validity, Window, Work,
};
use report::Lang;
use report::diagnosis::Clock;
use runfile::{Reader, Want};

use super::failed;
use super::offered::Offered;
use super::read::{part as part_of, quoted_command, totals_of, whole};
use crate::Failure;
use crate::validity;

/// Metric of `plimsoll/flow`.
const TASK_DURATION: &str = "flow_duration";
const TASK_OUTCOMES: &str = "flow_outcomes";
const OUTCOME: &str = "outcome";

/// A run and its selected windows; all windows if `None`.
pub type Looked<'a> = (&'a Reader, Option<Range<u32>>);

/// Reads runs, or parts of them, as levels sorted by load.
///
/// # Errors
/// A file is damaged.
pub fn case<'a>(looked: impl IntoIterator<Item = Looked<'a>>) -> Result<Case, Failure> {
    let levels = looked.into_iter().map(|(reader, part)| level(reader, part));
    let mut levels = levels.collect::<Result<Vec<Level>, Failure>>()?;
    // More users may bring less throughput, so levels are sorted by offered load if it is known.
    levels.sort_by(|a, b| load_of(a).total_cmp(&load_of(b)));
    Ok(Case { levels })
}

/// Diagnoses a whole run.
///
/// # Errors
/// The file is damaged.
pub fn of_run(reader: &Reader, lang: Lang) -> Result<DiagnosisReport, Failure> {
    of_runs(vec![(reader, None)], |_| (), lang).map(|(_, document)| document)
}

/// Diagnoses runs, or parts of them, together. `change` may leave evidence of each out.
///
/// # Errors
/// A file is damaged.
pub fn of_runs(
    looked: Vec<Looked<'_>>,
    change: impl FnMut(&mut Level),
    lang: Lang,
) -> Result<(Diagnosis, DiagnosisReport), Failure> {
    let readers: Vec<&Reader> = looked.iter().map(|(reader, _)| *reader).collect();
    let mut case = case(looked)?;
    case.levels.iter_mut().for_each(change);
    Ok(diagnosed(&case, &readers, lang))
}

/// Diagnoses a whole run whose sum, length and validity are known, which spares reading most of its file.
///
/// # Errors
/// The file is damaged.
pub fn of_judged(
    reader: &Reader,
    window: &Window,
    elapsed: Duration,
    validity: &Validity,
    lang: Lang,
) -> Result<DiagnosisReport, Failure> {
    let seconds = Seconds::read(reader)?;
    let level = level_of(reader, None, Summed { window, elapsed, seconds, validity: validity.clone() })?;
    Ok(diagnosed(&Case { levels: vec![level] }, &[reader], lang).1)
}

fn diagnosed(case: &Case, readers: &[&Reader], lang: Lang) -> (Diagnosis, DiagnosisReport) {
    let clock_of = |level: &Level| {
        let reader = readers.iter().find(|reader| reader.header().run_id == level.id)?;
        Some(clock(reader, level))
    };
    let clocks: Vec<Clock> = case.levels.iter().filter_map(clock_of).collect();
    let found = diagnose(case);
    let document = report::diagnosis::document(&found, &clocks, lang);
    (found, document)
}

/// Returns the clock that converts instants of a level to times of its run.
pub fn clock(reader: &Reader, level: &Level) -> Clock {
    let header = reader.header();
    Clock {
        run: header.run_id.clone(),
        at: Instant::from_ns(header.started_ns),
        unix_ns: header.started_wall_ns,
        zero: level.from(),
    }
}

fn load_of(level: &Level) -> f64 {
    level.closed_vus.unwrap_or_else(|| level.requests_per_s())
}

/// Reads a run, or a part of it, as one level.
///
/// # Errors
/// The file is damaged.
pub fn level(reader: &Reader, part: Option<Range<u32>>) -> Result<Level, Failure> {
    let (window, elapsed) = match &part {
        None => whole(reader)?,
        Some(range) => part_of(reader, range.clone())?,
    };
    let mut seconds = Seconds::default();
    let is_wanted = |key: SeriesKey| key.metric == HTTP_REQ_DURATION;
    let validity =
        validity::of_stored_beside(reader, &window, part.clone(), is_wanted, |index, key, brief| {
            seconds.add_requests(index, key, &brief);
        })?;
    let range = part.clone().map_or_else(|| reader.range().map_err(|error| failed(&error)), Ok)?;
    for window in reader.windows_of(range, &[DATA_RECEIVED, VUS]) {
        seconds.add_window(&window.map_err(|error| failed(&error))?);
    }
    level_of(reader, part, Summed { window: &window, elapsed, seconds, validity })
}

/// A run, or a part of it, whose windows were read.
struct Summed<'a> {
    window: &'a Window,
    elapsed: Duration,
    seconds: Seconds,
    validity: Validity,
}

fn level_of(reader: &Reader, part: Option<Range<u32>>, summed: Summed<'_>) -> Result<Level, Failure> {
    let Summed { window, elapsed, mut seconds, validity } = summed;
    let is_part = part.is_some();
    let range = part.map_or_else(|| reader.range().map_err(|error| failed(&error)), Ok)?;
    for row in reader.load(range.clone()).map_err(|error| failed(&error))? {
        if row.work == Work::Requests {
            seconds.added.entry(row.window).or_default().in_flight_ns += row.in_flight_ns as f64;
        }
    }
    let spans = reader.spans(range).map_err(|error| failed(&error))?;
    let header = reader.header();
    let totals = totals_of(reader, window, elapsed)?;
    let view = totals.view(elapsed);
    let results = view.metrics.iter().flat_map(|metric| {
        metric.thresholds.iter().chain(metric.sub_metrics.iter().flat_map(|sub| sub.thresholds.iter()))
    });
    let thresholds_failed = results
        .filter(|result| !result.ok)
        .map(|result| format!("{}: {}", result.selector, result.source))
        .collect();
    let Validity { grade, reasons, .. } = validity;
    let evidence = collected_in(reader)?;
    let tasks = tasks(reader, window);
    let is_closed = Offered::from_header(header).is_some_and(|offered| offered.closed_vus().is_some());
    let mut traces = reader.traces().map_err(|error| failed(&error))?;
    if is_part {
        let span = window.start.as_ns() as i64..window.end.as_ns() as i64;
        traces.retain(|trace| trace.spans.first().is_some_and(|first| span.contains(&first.start_ns)));
    }
    Ok(Level {
        id: header.run_id.clone(),
        command: quoted_command(header),
        grade,
        reasons,
        slots: slots(&evidence),
        service_s: tasks.as_ref().and_then(|tasks| service_s(&evidence.records, tasks)),
        closed_vus: is_closed.then(|| seconds.vus.mean()).flatten(),
        seconds: seconds.within(&spans),
        requests: requests(window, reader.tags()),
        tasks,
        thresholds_failed,
        evidence,
        traces,
        operations: reader.operations().map_err(|error| failed(&error))?,
    })
}

/// Reads a run's server evidence, with its time and requests; empty without evidence, which spares reading the requests.
///
/// # Errors
/// The file is damaged.
pub(crate) fn evidence_level(reader: &Reader) -> Result<Level, Failure> {
    let evidence = collected_in(reader)?;
    let traces = reader.traces().map_err(|error| failed(&error))?;
    if evidence.is_empty() && traces.is_empty() {
        return Ok(Level::default());
    }
    let (window, _) = whole(reader)?;
    let range = reader.range().map_err(|error| failed(&error))?;
    let spans = reader.spans(range).map_err(|error| failed(&error))?;
    Ok(Level {
        seconds: Seconds::default().within(&spans),
        requests: requests(&window, reader.tags()),
        tasks: tasks(reader, &window),
        evidence,
        traces,
        ..Level::default()
    })
}

/// VU-seconds; their average over time is the load of a closed loop.
#[derive(Default)]
struct VuSeconds {
    vu_s: f64,
    length_s: f64,
}

impl VuSeconds {
    fn add(&mut self, window: &Window) {
        let gauge = window.series.iter().find_map(|(key, aggregate)| match aggregate {
            Aggregate::Gauge(gauge) if key.metric == VUS && !gauge.is_empty() => Some(gauge.last),
            _ => None,
        });
        if let Some(vus) = gauge {
            let length_s = window.end.since(window.start).as_secs_f64();
            self.vu_s += vus * length_s;
            self.length_s += length_s;
        }
    }

    fn mean(&self) -> Option<f64> {
        (self.length_s > 0.0).then(|| self.vu_s / self.length_s)
    }
}

/// Sums per second, and VUs over all of them.
#[derive(Default)]
struct Seconds {
    added: BTreeMap<u32, Added>,
    vus: VuSeconds,
}

#[derive(Clone, Copy, Default)]
struct Added {
    count: u64,
    finished: u64,
    sum_ms: f64,
    in_flight_ns: f64,
    bytes_in: f64,
}

impl Seconds {
    /// Reads the seconds of a whole run, and nothing else of it.
    fn read(reader: &Reader) -> Result<Seconds, Failure> {
        let mut seconds = Seconds::default();
        let want = |key: SeriesKey| match key.metric {
            HTTP_REQ_DURATION => Want::Brief,
            DATA_RECEIVED | VUS => Want::Whole,
            _ => Want::Nothing,
        };
        let range = reader.range().map_err(|error| failed(&error))?;
        for minute in reader.minutes(range).map_err(|error| failed(&error))? {
            let add = |index, key, brief: Brief<'_>| seconds.add_requests(index, key, &brief);
            let windows = reader.minute(minute, want, add).map_err(|error| failed(&error))?;
            windows.iter().for_each(|window| seconds.add_window(window));
        }
        Ok(seconds)
    }

    fn add_requests(&mut self, index: u32, key: SeriesKey, brief: &Brief<'_>) {
        if key.metric == HTTP_REQ_DURATION {
            let second = self.added.entry(index).or_default();
            second.count = second.count.saturating_add(brief.count());
            second.finished = second.finished.saturating_add(brief.count()).saturating_add(brief.failures);
            second.sum_ms += brief.sum;
        }
    }

    /// Adds received bytes and VUs of a window that has no other counter.
    fn add_window(&mut self, window: &Window) {
        let bytes: f64 = window.series.iter().map(|(_, aggregate)| counted(aggregate)).sum();
        self.added.entry(window.index).or_default().bytes_in += bytes;
        self.vus.add(window);
    }

    fn within(&self, spans: &[(u32, std::ops::Range<Instant>)]) -> Vec<Second> {
        let second = |(index, span): &(u32, std::ops::Range<Instant>)| {
            let added = self.added.get(index).copied().unwrap_or_default();
            let length_ns = span.end.since(span.start).as_nanos() as f64;
            Second {
                from: span.start,
                to: span.end,
                finished: added.finished,
                mean_s: (added.count > 0).then(|| added.sum_ms / added.count as f64 / 1e3),
                in_flight: if length_ns > 0.0 { added.in_flight_ns / length_ns } else { 0.0 },
                bytes_in: added.bytes_in,
            }
        };
        spans.iter().map(second).collect()
    }
}

fn counted(aggregate: &Aggregate) -> f64 {
    match aggregate {
        Aggregate::Counter(counter) => counter.sum.value(),
        _ => 0.0,
    }
}

/// Returns the way in which the requests of a series were refused, if they were: k6's tags `status`, `error_code` and `error`.
fn refusal(tags: &TagSet) -> Option<Refusal> {
    let tag = |tag: SystemTag| tags.get(tag.as_str());
    match tag(SystemTag::Status)?.parse::<u16>().ok()? {
        0 => {
            // Codes of k6: broken pipe, connection refused, reset by the peer; 1000 stands for the end of the stream, among others.
            let is_closed = match tag(SystemTag::ErrorCode)? {
                "1201" | "1212" | "1220" => true,
                "1000" => tag(SystemTag::Error) == Some("EOF"),
                _ => false,
            };
            is_closed.then_some(Refusal::Connection)
        }
        status @ (429 | 500..) => Some(Refusal::Status(status)),
        _ => None,
    }
}

/// Sums up all requests of a run.
fn requests(window: &Window, tags: &TagInterner) -> Requests {
    let (mut count, mut failed) = (0_u64, 0_u64);
    let mut refused: BTreeMap<Refusal, u64> = BTreeMap::new();
    let mut bytes_in = 0.0;
    for (key, aggregate) in &window.series {
        match (key.metric, aggregate) {
            (HTTP_REQ_FAILED, Aggregate::Rate(rate)) => {
                count = count.saturating_add(rate.total);
                failed = failed.saturating_add(rate.passes);
                if let Some(refusal) = refusal(&tags.get(key.tags)) {
                    let count = refused.entry(refusal).or_default();
                    *count = count.saturating_add(rate.total);
                }
            }
            (DATA_RECEIVED, Aggregate::Counter(counter)) => bytes_in += counter.sum.value(),
            _ => {}
        }
    }
    let duration = trend(window, HTTP_REQ_DURATION);
    let count = count.max(duration.population());
    let steps = [HTTP_REQ_CONNECTING, HTTP_REQ_WAITING].map(|metric| retransmitted(&trend(window, metric)));
    let [connecting, waiting] = steps;
    let after_lost_syns = if connecting.count >= waiting.count { connecting } else { waiting };
    Requests {
        count,
        failed,
        refused,
        mean_s: duration.avg().map(|ms| ms / 1e3),
        p95_s: match duration.quantile(0.95) {
            Quantile::Value(ms) => Some(ms / 1e3),
            _ => None,
        },
        receiving_s: trend(window, HTTP_REQ_RECEIVING).avg().map(|ms| ms / 1e3),
        connections: count_above_zero(&trend(window, HTTP_REQ_CONNECTING)),
        after_lost_syns: after_lost_syns.count,
        lost_syns_s: after_lost_syns.total_s,
        bytes_in,
    }
}

fn trend(window: &Window, metric: MetricId) -> Trend {
    let mut sum = Trend::default();
    for (key, aggregate) in &window.series {
        if let (true, Aggregate::Trend(trend)) = (key.metric == metric, aggregate) {
            sum.merge(trend);
        }
    }
    sum
}

fn tasks(reader: &Reader, window: &Window) -> Option<Tasks> {
    let metric = |name: &str| reader.registry().find(name).map(|metric| metric.id);
    let duration = trend(window, metric(TASK_DURATION)?);
    if duration.population() == 0 {
        return None;
    }
    let mut outcomes: BTreeMap<String, u64> = BTreeMap::new();
    if let Some(id) = metric(TASK_OUTCOMES) {
        for (key, aggregate) in &window.series {
            let Aggregate::Rate(rate) = aggregate else { continue };
            let tags = reader.tags().get(key.tags);
            if let (true, Some(outcome)) = (key.metric == id, tags.get(OUTCOME)) {
                let count = outcomes.entry(outcome.to_owned()).or_default();
                *count = count.saturating_add(rate.passes);
            }
        }
    }
    Some(Tasks { done: duration.count(), mean_s: duration.avg().map(|ms| ms / 1e3), outcomes })
}

/// Reads server-side evidence, and merges parts of the same source.
fn collected_in(reader: &Reader) -> Result<Evidence, Failure> {
    let signals: Vec<Signal> = reader.signals().map_err(|error| failed(&error))?;
    let records = reader.records().map_err(|error| failed(&error))?;
    let gaps = reader.gaps().map_err(|error| failed(&error))?;
    Ok(Evidence { signals, records, gaps, ..Evidence::default() })
}

/// Returns the number of tasks that all workers can process at once, from sources that report a pool.
fn slots(evidence: &Evidence) -> Option<f64> {
    let limits = evidence.signals.iter().filter(|signal| signal.name == SignalId::TasksActiveMax);
    limits.filter_map(|signal| signal.points.last().map(|(_, value)| *value)).reduce(|a, b| a + b)
}

/// Returns the total service time of a task, seconds: for each kind of work, the mean time if it occurs once per task.
fn service_s(records: &[Record], tasks: &Tasks) -> Option<f64> {
    let number = |record: &Record, name: &str| match record.fields.get(name) {
        Some(Datum::Number(number)) if number.is_finite() => Some(*number),
        _ => None,
    };
    let of_kind = records
        .iter()
        .filter(|record| record.kind == RecordKind::Task)
        .filter_map(|record| Some(number(record, "count")? * number(record, "mean_ms")? / 1e3));
    let sum_s: f64 = of_kind.sum();
    (sum_s > 0.0 && tasks.done > 0).then(|| sum_s / tasks.done as f64)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use model::{Mark, MetricKind, MetricRegistry, RunEvent, TagSetId};
    use runfile::{Ending, Header, Writer};

    use super::*;

    #[test]
    fn the_time_of_service_is_of_all_kinds() {
        let record = |mean_ms: f64| Record {
            source: "log".to_owned(),
            kind: RecordKind::Task,
            at: Instant::ZERO,
            subject: "vision".to_owned(),
            fields: [("count", 50.0), ("mean_ms", mean_ms)]
                .map(|(name, value)| (name.to_owned(), value.into()))
                .into(),
        };
        let tasks = Tasks { done: 50, ..Tasks::default() };
        assert_eq!(service_s(&[record(4_000.0), record(6_500.0)], &tasks), Some(10.5));
        assert_eq!(service_s(&[], &tasks), None);
    }

    #[test]
    fn a_judged_run_is_diagnosed_like_one_that_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.plimsoll");
        let (registry, tags) = (Arc::new(MetricRegistry::default()), Arc::new(TagInterner::default()));
        let mut writer = Writer::create(&path, &Header::default(), registry, tags.clone()).expect("a writer");
        let sets: Vec<TagSetId> = (0..20)
            .map(|number| tags.intern(TagSet::new([("url".into(), format!("/{number}").into())])))
            .collect();
        for index in 0..130 {
            writer.on_event(&RunEvent::Window(Arc::new(window(index, &sets))));
            std::thread::sleep(Duration::from_micros(200));
        }
        let report = writer.finish(Ending { elapsed_ns: 130_000_000_000, ..Ending::default() });
        assert!(report.error.is_none() && report.windows_lost == 0, "{report:?}");
        let reader = Reader::open(&path).expect("a reader");

        let read = level(&reader, None).expect("readable");
        let ms: f64 = read.seconds.iter().filter_map(|second| second.mean_s).sum();
        assert!(
            read.seconds.len() == 130 && ms > 0.0 && read.seconds.iter().all(|second| second.finished == 20)
        );
        assert!(read.seconds.iter().all(|second| second.bytes_in >= 1_000.0));
        let (sum, elapsed) = whole(&reader).expect("readable");
        let judged = validity::of_stored(&reader, &sum, None).expect("readable");
        let seconds = Seconds::read(&reader).expect("readable");
        let summed = Summed { window: &sum, elapsed, seconds, validity: judged.clone() };
        assert_eq!(format!("{:?}", level_of(&reader, None, summed).expect("readable")), format!("{read:?}"));
        let diagnosis = of_judged(&reader, &sum, elapsed, &judged, Lang::En).expect("readable");
        assert_eq!(format!("{diagnosis:?}"), format!("{:?}", of_run(&reader, Lang::En).expect("readable")));
    }

    /// Times whose sum depends on the order of addition; every seventh request failed.
    fn window(index: u32, tags: &[TagSetId]) -> Window {
        let at = |second: u32| Instant::from_ns(u64::from(second + 1) * 1_000_000_000);
        let series = tags.iter().map(|tags| {
            let mut aggregate = Aggregate::empty(MetricKind::Trend);
            let mark = if (index + tags.0).is_multiple_of(7) { Mark::Failed } else { Mark::Measured };
            aggregate.record(f64::from(index * 7 + tags.0 * 13) / 7.0, mark, at(index));
            (SeriesKey { metric: HTTP_REQ_DURATION, tags: *tags }, aggregate)
        });
        let mut bytes = Aggregate::empty(MetricKind::Counter);
        bytes.record(f64::from(1_000 + index), Mark::Measured, at(index));
        let mut vus = Aggregate::empty(MetricKind::Gauge);
        vus.record(f64::from(1 + index), Mark::Measured, at(index));
        let rest = [(VUS, vus), (DATA_RECEIVED, bytes)]
            .map(|(metric, aggregate)| (SeriesKey { metric, tags: tags[0] }, aggregate));
        let mut series: Vec<_> = series.chain(rest).collect();
        series.sort_by_key(|series| series.0);
        Window { index, start: at(index), end: at(index + 1), series, ..Window::default() }
    }
}
