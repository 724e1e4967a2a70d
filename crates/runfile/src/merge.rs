//! The parts of one test become one run.
//!
//! Windows are aligned by index, instants by the start of each part's first window: machines share no monotonic clock.
//! Everything is put in an order that the numbers themselves decide, so that the order of the parts cannot matter.

use std::collections::{BTreeMap, HashMap};
use std::iter::Peekable;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use model::metric::builtin::{VUS, VUS_MAX};
use model::{
    Aggregate, ErrorCount, Evidence, Exemplar, GaugeTotal, GeneratorState, Instant, Load, MetricId,
    MetricRegistry, OperationLoad, ScenarioId, SeriesKey, TagInterner, TagSet, TagSetId, Trace, Window, Work,
};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::store::Store;
use crate::windows::Windows;
use crate::{Anchor, Drops, Ending, Header, MergeError, ReadError, Reader, State, WriteError};

/// Differences that merging may ignore.
#[derive(Clone, Copy, Debug, Default)]
pub struct MergeOptions {
    /// Merge runs of different scripts or options too.
    pub force: bool,
}

/// Options in which the parts of one test differ by design.
const SEGMENT_OPTIONS: [&str; 2] = ["executionSegment", "executionSegmentSequence"];

/// Makes one run at `out` of the parts that several instances ran. The order of `inputs` does not matter. Gives the id of
/// the new run. If a part is not complete, the result is a partial run. Thresholds over time are not taken over: each part
/// judged its own numbers.
///
/// # Errors
/// The runs do not belong together (unless forced), one of them cannot be read, or the result cannot be written.
pub fn merge(inputs: &[&Reader], out: &Path, options: MergeOptions) -> Result<String, MergeError> {
    let mut inputs = inputs.to_vec();
    inputs.sort_by(|a, b| a.header().run_id.cmp(&b.header().run_id));
    check(&inputs, options)?;
    let names = Names::merge(&inputs)?;
    let parts = parts_of(&inputs, &names)?;
    let header = header_of(&parts);
    let store = Store::create(out, &header, names.registry.clone(), names.tags.clone(), false)?;
    let written = fill(store, &parts, out);
    if written.is_err() {
        // An incomplete merge cannot be read.
        let _ = std::fs::remove_file(out);
    }
    written.map(|()| header.run_id)
}

/// A run that becomes part of another.
struct Input<'a> {
    reader: &'a Reader,
    /// The offset added to its instants.
    shift: Duration,
    /// By its own numbers: the new ones.
    metrics: Vec<MetricId>,
    tag_sets: Vec<TagSetId>,
}

/// The names of all parts together.
struct Names {
    registry: Arc<MetricRegistry>,
    tags: Arc<TagInterner>,
}

fn check(inputs: &[&Reader], options: MergeOptions) -> Result<(), MergeError> {
    let Some(first) = inputs.first() else { return Err(MergeError::Nothing) };
    for pair in inputs.windows(2) {
        let (a, b) = (pair[0].header(), pair[1].header());
        if a.run_id == b.run_id {
            return Err(MergeError::Twice(a.run_id.clone()));
        }
    }
    let a = first.header();
    for b in inputs.iter().map(|input| input.header()).filter(|_| !options.force) {
        let different = |what| MergeError::Different { a: a.run_id.clone(), b: b.run_id.clone(), what };
        if texts(a) != texts(b) {
            return Err(different("their scripts"));
        }
        if whole_options(a) != whole_options(b) {
            return Err(different("their options"));
        }
    }
    Ok(())
}

fn texts(header: &Header) -> Vec<&str> {
    header.modules.iter().map(|module| module.sha256.as_str()).collect()
}

fn whole_options(header: &Header) -> Value {
    let mut options = serde_json::from_str(&header.options_json).unwrap_or_default();
    if let Value::Object(members) = &mut options {
        SEGMENT_OPTIONS.iter().for_each(|name| drop(members.remove(*name)));
    }
    options
}

impl Names {
    /// First sight decides the order, as in one run; where parts differ, the earliest sight in any of them does.
    fn merge(inputs: &[&Reader]) -> Result<Names, MergeError> {
        let registry = MetricRegistry::default();
        let mut metrics: Vec<_> = inputs.iter().flat_map(|input| input.registry().all()).collect();
        metrics.sort_by(|a, b| (a.id, &a.name).cmp(&(b.id, &b.name)));
        for metric in metrics {
            let known = registry.register(&metric.name, metric.kind, metric.contains);
            known.map_err(|conflict| MergeError::Metric(conflict.name.to_string()))?;
        }
        let mut first_sight: HashMap<Arc<TagSet>, u32> = HashMap::new();
        for input in inputs {
            for (set, id) in tag_sets(input).zip(0..) {
                first_sight.entry(set).and_modify(|first| *first = id.min(*first)).or_insert(id);
            }
        }
        let mut sets: Vec<_> = first_sight.into_iter().map(|(set, first)| (first, set)).collect();
        sets.sort();
        let tags = TagInterner::default();
        for (_, set) in sets {
            tags.intern(TagSet::clone(&set));
        }
        Ok(Names { registry: Arc::new(registry), tags: Arc::new(tags) })
    }
}

fn tag_sets(reader: &Reader) -> impl Iterator<Item = Arc<TagSet>> {
    let ids = 0..u32::try_from(reader.tags().len()).unwrap_or(u32::MAX);
    ids.map(|id| reader.tags().get(TagSetId(id)))
}

fn parts_of<'a>(inputs: &[&'a Reader], names: &Names) -> Result<Vec<Input<'a>>, MergeError> {
    let mut zeros = Vec::with_capacity(inputs.len());
    for input in inputs {
        let first = input.windows(0..u32::MAX).next().transpose()?;
        zeros.push(first.map_or(Instant::from_ns(input.header().started_ns), |window| window.start));
    }
    // The latest zero is the common one, so that nothing that came before it falls below the clock's origin.
    let common = zeros.iter().copied().max().unwrap_or(Instant::ZERO);
    let part = |(reader, zero): (&'a Reader, Instant)| Input {
        reader,
        shift: common.since(zero),
        metrics: reader
            .registry()
            .all()
            .iter()
            .map(|metric| names.registry.find(&metric.name).map_or(metric.id, |known| known.id))
            .collect(),
        tag_sets: tag_sets(reader).map(|set| names.tags.intern(TagSet::clone(&set))).collect(),
    };
    Ok(inputs.iter().copied().zip(zeros).map(part).collect())
}

fn header_of(parts: &[Input<'_>]) -> Header {
    let ids: Vec<String> = parts.iter().map(|part| part.reader.header().run_id.clone()).collect();
    let digest = Sha256::digest(ids.join("\n").as_bytes());
    let earliest = parts.iter().map(|part| part.reader.header()).min_by_key(|header| header.started_wall_ns);
    let started = parts.iter().map(|part| part.at(Instant::from_ns(part.reader.header().started_ns))).min();
    Header {
        run_id: digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect(),
        started_wall_ns: earliest.map_or(0, |header| header.started_wall_ns),
        started_ns: started.map_or(0, Instant::as_ns),
        segment: String::new(),
        merged_from: ids,
        ..parts[0].reader.header().clone()
    }
}

fn fill(mut store: Store, parts: &[Input<'_>], out: &Path) -> Result<(), MergeError> {
    let failed = |source| MergeError::Write(WriteError::Sqlite { path: out.to_owned(), source });
    let mut all: Vec<Peekable<Windows<'_>>> =
        parts.iter().map(|part| part.reader.windows(0..u32::MAX).peekable()).collect();
    while let Some(window) = next_window(parts, &mut all)? {
        let window = Arc::new(window);
        store.transaction(|store| store.put_window(&window)).map_err(failed)?;
        store.compact(false).map_err(failed)?;
    }
    store.compact(true).map_err(failed)?;
    for part in parts {
        for (instance, states) in part.states()? {
            store.transaction(|store| store.put_states(&states, Some(&instance))).map_err(failed)?;
        }
    }
    for part in parts {
        let evidence = part.evidence()?;
        store.transaction(|store| store.put_evidence(&evidence)).map_err(failed)?;
        let traces = part.traces()?;
        store.transaction(|store| store.put_traces(&traces)).map_err(failed)?;
        let operations = part.operations()?;
        store.transaction(|store| store.put_operations(&operations)).map_err(failed)?;
    }
    let rows = Rows::collect(parts)?;
    store.transaction(|store| rows.write(store)).map_err(failed)?;
    if let Some(ending) = ending_of(parts) {
        store
            .transaction(|store| store.put_ending(&ending, ending.windows_lost, ending.log_lines_lost))
            .map_err(failed)?;
    }
    store.close().map_err(MergeError::Write)
}

/// The next window of any part, with the windows of the same index of the others added.
fn next_window(parts: &[Input<'_>], all: &mut [Peekable<Windows<'_>>]) -> Result<Option<Window>, ReadError> {
    let mut next: Option<u32> = None;
    for windows in all.iter_mut() {
        match windows.peek() {
            Some(Ok(window)) => next = Some(next.map_or(window.index, |next| next.min(window.index))),
            Some(Err(_)) => {
                if let Some(Err(error)) = windows.next() {
                    return Err(error);
                }
            }
            None => {}
        }
    }
    let Some(index) = next else { return Ok(None) };
    let mut sum = WindowSum::default();
    for (part, windows) in parts.iter().zip(all) {
        if let Some(window) =
            windows.next_if(|window| window.as_ref().is_ok_and(|window| window.index == index))
        {
            sum.add(part, window?);
        }
    }
    Ok(Some(sum.finish(index)))
}

impl Input<'_> {
    fn at(&self, instant: Instant) -> Instant {
        instant + self.shift
    }

    /// The readings of its generators, each under the id of the run that it made.
    fn states(&self) -> Result<Vec<(String, Vec<GeneratorState>)>, ReadError> {
        let moved = |(instance, mut states): (String, Vec<GeneratorState>)| {
            states.iter_mut().for_each(|state| state.at = self.at(state.at));
            let own = || self.reader.header().run_id.clone();
            (if instance.is_empty() { own() } else { instance }, states)
        };
        Ok(self.reader.generator_states_by_instance()?.into_iter().map(moved).collect())
    }

    /// Its evidence.
    fn evidence(&self) -> Result<Evidence, ReadError> {
        let mut evidence = Evidence {
            signals: self.reader.signals()?,
            records: self.reader.records()?,
            gaps: self.reader.gaps()?,
            // They are moved by themselves.
            traces: Vec::new(),
        };
        let points = evidence.signals.iter_mut().flat_map(|signal| &mut signal.points);
        points.for_each(|(at, _)| *at = self.at(*at));
        evidence.records.iter_mut().for_each(|record| record.at = self.at(record.at));
        for gap in &mut evidence.gaps {
            (gap.from, gap.to) = (self.at(gap.from), self.at(gap.to));
        }
        Ok(evidence)
    }

    fn traces(&self) -> Result<Vec<Trace>, ReadError> {
        let shift_ns = i64::try_from(self.shift.as_nanos()).unwrap_or(i64::MAX);
        let mut traces = self.reader.traces()?;
        for span in traces.iter_mut().flat_map(|trace| &mut trace.spans) {
            span.start_ns = span.start_ns.saturating_add(shift_ns);
        }
        Ok(traces)
    }

    fn operations(&self) -> Result<Vec<OperationLoad>, ReadError> {
        let tens = u32::try_from(self.shift.as_secs() / 10).unwrap_or(u32::MAX);
        let mut operations = self.reader.operations()?;
        operations.iter_mut().for_each(|load| load.ten = load.ten.saturating_add(tens));
        Ok(operations)
    }

    fn tags(&self, tags: TagSetId) -> TagSetId {
        self.tag_sets.get(tags.0 as usize).copied().unwrap_or(TagSetId::OVERFLOW)
    }

    fn metric(&self, metric: MetricId) -> MetricId {
        self.metrics.get(usize::from(metric.0)).copied().unwrap_or(metric)
    }
}

/// Windows of one index, added up.
#[derive(Default)]
struct WindowSum {
    ends: Option<(Instant, Instant)>,
    series: BTreeMap<SeriesKey, Aggregate>,
    load: BTreeMap<(Option<ScenarioId>, Work), Load>,
    errors: BTreeMap<(u16, Arc<str>), ErrorCount>,
    exemplars: Vec<Exemplar>,
}

impl WindowSum {
    fn add(&mut self, part: &Input<'_>, window: Window) {
        let (start, end) = (part.at(window.start), part.at(window.end));
        self.ends = Some(self.ends.map_or((start, end), |ends| (ends.0.min(start), ends.1.max(end))));
        for (key, aggregate) in window.series {
            self.add_series(part, key, aggregate);
        }
        for load in window.load {
            let sum = self.load.entry((load.scenario, load.work)).or_insert(Load {
                started: 0,
                finished: 0,
                in_flight_ns: 0,
                ..load
            });
            sum.started += load.started;
            sum.finished += load.finished;
            sum.in_flight_ns += load.in_flight_ns;
        }
        for error in window.errors {
            let tags = part.tags(error.tags);
            let key = (error.code, error.message.clone());
            let sum = self.errors.entry(key).or_insert(ErrorCount { count: 0, tags, ..error.clone() });
            sum.count += error.count;
            if (tags, &error.example) < (sum.tags, &sum.example) {
                (sum.tags, sum.example) = (tags, error.example);
            }
        }
        self.exemplars.extend(window.exemplars.into_iter().map(|exemplar| Exemplar {
            metric: part.metric(exemplar.metric),
            tags: part.tags(exemplar.tags),
            at: part.at(exemplar.at),
            ..exemplar
        }));
    }

    fn add_series(&mut self, part: &Input<'_>, key: SeriesKey, mut aggregate: Aggregate) {
        let key = SeriesKey { metric: part.metric(key.metric), tags: part.tags(key.tags) };
        if let Aggregate::Gauge(gauge) = &mut aggregate {
            gauge.last_at = part.at(gauge.last_at);
        }
        match self.series.get_mut(&key) {
            None => drop(self.series.insert(key, aggregate)),
            Some(sum) => match (sum, &aggregate) {
                // The VUs of several instances are there at the same time.
                (Aggregate::Gauge(sum), Aggregate::Gauge(gauge)) if [VUS, VUS_MAX].contains(&key.metric) => {
                    *sum = GaugeTotal {
                        last: sum.last + gauge.last,
                        last_at: sum.last_at.max(gauge.last_at),
                        min: sum.min + gauge.min,
                        max: sum.max + gauge.max,
                    };
                }
                (sum, aggregate) => sum.merge(aggregate),
            },
        }
    }

    fn finish(mut self, index: u32) -> Window {
        let (start, end) = self.ends.unwrap_or_default();
        self.exemplars.sort_by(|a, b| {
            (a.kind, a.at, a.metric, a.tags)
                .cmp(&(b.kind, b.at, b.metric, b.tags))
                .then_with(|| a.value.total_cmp(&b.value))
                .then_with(|| (a.trace_id, &a.metadata).cmp(&(b.trace_id, &b.metadata)))
        });
        Window {
            index,
            start,
            end,
            series: self.series.into_iter().collect(),
            load: self.load.into_values().collect(),
            exemplars: self.exemplars,
            errors: self.errors.into_values().collect(),
            leased: Vec::new(),
        }
    }
}

/// The rows that are no windows, in order.
#[derive(Default)]
struct Rows {
    anchors: Vec<Anchor>,
    log: Vec<(u64, &'static str, String, String, String)>,
    events: Vec<(u64, String, String)>,
    notes: Vec<(i64, String)>,
}

impl Rows {
    fn collect(parts: &[Input<'_>]) -> Result<Rows, ReadError> {
        let mut rows = Rows::default();
        for part in parts {
            let anchors = part.reader.anchors()?.into_iter();
            rows.anchors.extend(anchors.map(|anchor| Anchor { at: part.at(anchor.at), ..anchor }));
            for line in part.reader.log()? {
                let fields = Value::from_iter(line.fields.into_iter().map(|(name, value)| vec![name, value]));
                let at_ns = part.at(line.at).as_ns();
                rows.log.push((at_ns, line.level.as_str(), line.source, line.message, fields.to_string()));
            }
            let events = part.reader.marks()?.into_iter();
            rows.events.extend(events.map(|event| (part.at(event.at).as_ns(), event.kind, event.text)));
            rows.notes.extend(part.reader.notes()?.into_iter().map(|note| (note.wall_unix_ns, note.text)));
        }
        rows.anchors.sort_by_key(|anchor| (anchor.at, anchor.wall_unix_ns));
        rows.log.sort();
        rows.events.sort();
        rows.notes.sort();
        Ok(rows)
    }

    fn write(&self, store: &mut Store) -> rusqlite::Result<()> {
        self.anchors.iter().try_for_each(|anchor| store.put_anchor(*anchor))?;
        for (at_ns, level, source, message, fields) in &self.log {
            store.put_log_row(*at_ns, level, source, message, fields)?;
        }
        self.events.iter().try_for_each(|(at_ns, kind, text)| store.put_event(*at_ns, kind, text))?;
        self.notes.iter().try_for_each(|(wall_ns, text)| store.put_note(*wall_ns, text))
    }
}

/// How the parts ended, together; `None` unless all of them did.
fn ending_of(parts: &[Input<'_>]) -> Option<Ending> {
    if parts.iter().any(|part| part.reader.state() != State::Complete) {
        return None;
    }
    let endings: Vec<&Ending> = parts.iter().filter_map(|part| part.reader.ending()).collect();
    let sum =
        |field: fn(&Ending) -> u64| endings.iter().map(|ending| field(ending)).fold(0, u64::saturating_add);
    let mut drops: BTreeMap<(u16, &str), u64> = BTreeMap::new();
    for cause in endings.iter().flat_map(|ending| &ending.drops) {
        let count = drops.entry((cause.scenario, &cause.cause)).or_default();
        *count = count.saturating_add(cause.count);
    }
    let mut flags: Vec<String> = endings.iter().flat_map(|ending| ending.flags.clone()).collect();
    flags.sort();
    flags.dedup();
    Some(Ending {
        ended_wall_ns: endings.iter().map(|ending| ending.ended_wall_ns).max()?,
        elapsed_ns: endings.iter().map(|ending| ending.elapsed_ns).max()?,
        exit_code: endings.iter().map(|ending| ending.exit_code).max()?,
        aborted: endings.iter().filter_map(|ending| ending.aborted.clone()).min(),
        flags,
        drops: drops
            .into_iter()
            .map(|((scenario, cause), count)| Drops { scenario, cause: cause.to_owned(), count })
            .collect(),
        samples_lost: sum(|ending| ending.samples_lost),
        workers_lost: sum(|ending| ending.workers_lost),
        agents_lost: sum(|ending| ending.agents_lost),
        tag_sets_overflowed: sum(|ending| ending.tag_sets_overflowed),
        windows_lost: sum(|ending| ending.windows_lost),
        log_lines_lost: sum(|ending| ending.log_lines_lost),
        states_lost: sum(|ending| ending.states_lost),
        evidence_lost: sum(|ending| ending.evidence_lost),
        exemplars_lost: sum(|ending| ending.exemplars_lost),
        threshold_results_lost: sum(|ending| ending.threshold_results_lost),
    })
}
