//! Windows, samples and log lines of an agent as frames, and back, without loss.

use std::sync::Arc;

use bytes::Bytes;
use histo::{FixedSum, Values};
use model::metric::builtin::{VUS, VUS_MAX};
use model::tags::TAG_SETS_MAX;
use model::{
    Aggregate, CounterTotal, ErrorCount, Exemplar, ExemplarKind, Failures, GaugeTotal, GeneratorState,
    Instant, Load, LogLevel, LogLine, Metadata, MetricId, MetricKind, MetricRegistry, RateTotal, Reading,
    Sample, ScenarioId, SeriesKey, TagInterner, TagSet, TagSetId, Trend, ValueKind, Vital, Window, Work,
};
use prost::Message;
use tally::Noted;

use crate::convert;
use crate::message::{
    Body, Cell, CounterCell, ErrorRow, ExemplarRow, FailureCell, GaugeCell, Lease, LineRow, LoadRow, Log,
    MachineReading, MetricName, Names, RateCell, SampleRow, Samples, Series, Tags, TrendCell, VitalRow,
    WindowPart,
};

/// Bytes after which a list continues in another frame; far below [`crate::codec::FRAME_BYTES_MAX`].
const PART_BYTES: usize = 1 << 20;

/// No cell counts more: a million a second take half a year to get there. Far below what would overflow when merged.
const COUNT_MAX: u64 = 1 << 44;

/// Values of one reading, at most: some for each of many worker threads.
const VITALS_MAX: usize = 4096;

/// Sources of log lines that an agent sends, as [`LogLine::source`].
const SOURCES: [&str; 3] = ["console", "stacktrace", "http-debug"];

/// The error in an agent's frames.
pub type Flaw = &'static str;

/// Turns the events of an agent's engine into frames.
#[derive(Debug)]
pub struct Outbound {
    registry: Arc<MetricRegistry>,
    tags: Arc<TagInterner>,
    metrics_sent: usize,
    tag_sets_sent: usize,
    /// The hub's clock minus the agent's, nanoseconds.
    offset_ns: i64,
}

impl Outbound {
    /// Frames of a run with these metrics and tags.
    pub fn new(registry: Arc<MetricRegistry>, tags: Arc<TagInterner>) -> Outbound {
        Outbound { registry, tags, metrics_sent: 0, tag_sets_sent: 0, offset_ns: 0 }
    }

    /// Sets the hub's clock minus the agent's. It stays what it is while the scenarios run, so that their windows are those of
    /// the hub to the nanosecond.
    pub fn set_offset(&mut self, offset_ns: i64) {
        self.offset_ns = offset_ns;
    }

    /// A window, after the names that it uses.
    pub fn window(&mut self, window: &Window) -> Vec<Body> {
        let mut bodies = self.names();
        let mut part = self.empty_part(window);
        let mut bytes = 0;
        for (key, aggregate) in &window.series {
            if let (VUS | VUS_MAX, Aggregate::Gauge(gauge)) = (key.metric, aggregate) {
                let count = if key.metric == VUS { &mut part.vus } else { &mut part.vus_max };
                *count = gauge.last as u64;
                continue;
            }
            let series = self.series(*key, aggregate);
            bytes += series.encoded_len();
            part.series.push(series);
            if bytes >= PART_BYTES {
                let next = WindowPart { vus: part.vus, vus_max: part.vus_max, ..self.empty_part(window) };
                bodies.push(Body::Window(std::mem::replace(&mut part, next)));
                bytes = 0;
            }
        }
        part.load = window.load.iter().map(load_row).collect();
        part.exemplars = window.exemplars.iter().map(|exemplar| self.exemplar(exemplar)).collect();
        part.errors = window.errors.iter().map(error_row).collect();
        part.leased = leases(&window.leased);
        part.is_last = true;
        bodies.push(Body::Window(part));
        bodies
    }

    /// Raw samples, after the names that they use.
    pub fn samples(&mut self, samples: &[(Sample, Option<Metadata>)], lost: u64) -> Vec<Body> {
        let row = |(sample, metadata): &(Sample, Option<Metadata>)| SampleRow {
            metric: sample.metric.0.into(),
            tags: sample.tags.0,
            value: sample.value,
            at_ns: self.hub_ns(sample.at),
            mark: convert::of_mark(sample.mark),
            metadata: convert::of_metadata(metadata.as_ref()),
        };
        let rows: Vec<SampleRow> = samples.iter().map(row).collect();
        let mut bodies = self.names();
        let (mut part, mut bytes) = (Samples { samples: Vec::new(), lost }, 0);
        for row in rows {
            bytes += row.encoded_len();
            part.samples.push(row);
            if bytes >= PART_BYTES {
                bodies.push(Body::Samples(std::mem::take(&mut part)));
                bytes = 0;
            }
        }
        bodies.push(Body::Samples(part));
        bodies
    }

    /// Log lines. A message beyond a frame's size is cut.
    pub fn log(&self, lines: &[LogLine], lost: u64) -> Vec<Body> {
        let (mut bodies, mut log, mut bytes) = (Vec::new(), Log { lines: Vec::new(), lost }, 0);
        for line in lines {
            let end = line.message.floor_char_boundary(PART_BYTES);
            bytes += end;
            log.lines.push(LineRow {
                at_ns: self.hub_ns(line.at),
                level: line.level as u32,
                message: line.message[..end].to_owned(),
                source: line.source.to_owned(),
            });
            if bytes >= PART_BYTES {
                bodies.push(Body::Log(std::mem::take(&mut log)));
                bytes = 0;
            }
        }
        if !log.lines.is_empty() || log.lost > 0 {
            bodies.push(Body::Log(log));
        }
        bodies
    }

    /// A reading of the generator.
    pub fn reading(&self, state: &GeneratorState) -> Body {
        let row = |reading: &Reading| VitalRow {
            vital: reading.vital as u32,
            worker: reading.worker.map_or(0, |worker| u32::from(worker) + 1),
            value: reading.value,
        };
        let vitals = state.readings.iter().map(row).collect();
        Body::Reading(MachineReading { at_ns: self.hub_ns(state.at), vitals })
    }

    /// Metrics and tag sets that no frame has named yet. Their numbers on the wire are those of this process.
    fn names(&mut self) -> Vec<Body> {
        let metrics = self.registry.all();
        let mut names = Names::default();
        for metric in &metrics[self.metrics_sent..] {
            names.metrics.push(MetricName {
                name: metric.name.to_string(),
                kind: kind_number(metric.kind),
                contains: contains_number(metric.contains),
            });
        }
        self.metrics_sent = metrics.len();
        let (mut bodies, mut bytes) = (Vec::new(), 0);
        let sets = self.tags.len();
        for id in self.tag_sets_sent..sets {
            let set = self.tags.get(TagSetId(id as u32));
            let words = set.iter().flat_map(|(name, value)| [name.to_owned(), value.to_owned()]).collect();
            let tags = Tags { words };
            bytes += tags.encoded_len();
            names.tag_sets.push(tags);
            if bytes >= PART_BYTES {
                bodies.push(Body::Names(std::mem::take(&mut names)));
                bytes = 0;
            }
        }
        self.tag_sets_sent = sets;
        if !names.metrics.is_empty() || !names.tag_sets.is_empty() {
            bodies.push(Body::Names(names));
        }
        bodies
    }

    fn empty_part(&self, window: &Window) -> WindowPart {
        WindowPart {
            start_ns: self.hub_ns(window.start),
            end_ns: self.hub_ns(window.end),
            ..WindowPart::default()
        }
    }

    fn series(&self, key: SeriesKey, aggregate: &Aggregate) -> Series {
        let cell = match aggregate {
            Aggregate::Counter(counter) => {
                Cell::Counter(CounterCell { count: counter.count, sum: counter.sum.to_bytes().into() })
            }
            Aggregate::Gauge(gauge) => Cell::Gauge(GaugeCell {
                last: gauge.last,
                last_ns: self.hub_ns(gauge.last_at),
                min: gauge.min,
                max: gauge.max,
            }),
            Aggregate::Rate(rate) => Cell::Rate(RateCell { passes: rate.passes, total: rate.total }),
            Aggregate::Trend(trend) => Cell::Trend(trend_cell(trend)),
        };
        Series { metric: key.metric.0.into(), tags: key.tags.0, cell: Some(cell) }
    }

    fn exemplar(&self, exemplar: &Exemplar) -> ExemplarRow {
        let trace = exemplar.trace_id.map(|id| Bytes::copy_from_slice(&id.to_be_bytes()));
        ExemplarRow {
            kind: match exemplar.kind {
                ExemplarKind::Slowest => 0,
                ExemplarKind::Failed => 1,
                ExemplarKind::Bucket => 2,
            },
            metric: exemplar.metric.0.into(),
            tags: exemplar.tags.0,
            at_ns: self.hub_ns(exemplar.at),
            value: exemplar.value,
            mark: convert::of_mark(exemplar.mark),
            trace: trace.unwrap_or_default(),
            metadata: convert::of_metadata(exemplar.metadata.as_ref()),
        }
    }

    fn hub_ns(&self, at: Instant) -> u64 {
        at.as_ns().saturating_add_signed(self.offset_ns)
    }
}

/// Numbers as blocks.
fn leases(numbers: &[(ScenarioId, u64)]) -> Vec<Lease> {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    let mut blocks: Vec<Lease> = Vec::new();
    for (scenario, number) in sorted {
        let scenario = u32::from(scenario.0);
        match blocks.last_mut() {
            Some(last) if last.scenario == scenario && last.first + last.count == number => last.count += 1,
            _ => blocks.push(Lease { scenario, first: number, count: 1 }),
        }
    }
    blocks
}

fn trend_cell(trend: &Trend) -> TrendCell {
    let failures = trend.failures.as_ref().map(|failures| FailureCell {
        timed_out: failures.timed_out.to_bytes().into(),
        cut: failures.cut.to_bytes().into(),
        dropped: failures.dropped,
        failed: failures.failed,
    });
    TrendCell { values: trend.values.to_bytes().into(), failures }
}

fn load_row(load: &Load) -> LoadRow {
    LoadRow {
        scenario: load.scenario.map_or(0, |scenario| u32::from(scenario.0) + 1),
        work: match load.work {
            Work::Iterations => 0,
            Work::Requests => 1,
        },
        started: load.started,
        finished: load.finished,
        in_flight_ns: load.in_flight_ns,
    }
}

fn error_row(error: &ErrorCount) -> ErrorRow {
    ErrorRow {
        code: error.code.into(),
        message: error.message.to_string(),
        tags: error.tags.0,
        count: error.count,
        example: error.example.to_string(),
    }
}

/// A reading of an agent. Vitals and workers that cannot be are left out.
pub fn reading(row: &MachineReading) -> GeneratorState {
    let reading = |row: &VitalRow| {
        let worker = row.worker.checked_sub(1).map(u16::try_from).transpose().ok()?;
        Some(Reading { vital: *Vital::ALL.get(row.vital as usize)?, worker, value: row.value })
    };
    let readings = row.vitals.iter().filter(|row| row.value.is_finite()).filter_map(reading);
    GeneratorState { at: Instant::from_ns(row.at_ns), readings: readings.take(VITALS_MAX).collect() }
}

/// Turns an agent's frames into what the hub merges. Numbers of metrics and tags are the agent's own.
#[derive(Debug)]
pub struct Inbound {
    registry: Arc<MetricRegistry>,
    tags: Arc<TagInterner>,
    metrics: Vec<(MetricId, MetricKind)>,
    tag_sets: Vec<TagSetId>,
    scenarios: usize,
}

impl Inbound {
    /// Frames of one agent of a run with these metrics, tags and scenarios.
    pub fn new(registry: Arc<MetricRegistry>, tags: Arc<TagInterner>, scenarios: usize) -> Inbound {
        Inbound { registry, tags, metrics: Vec::new(), tag_sets: Vec::new(), scenarios }
    }

    /// Learns names.
    ///
    /// # Errors
    /// They are none, or too many.
    pub fn learn(&mut self, names: Names) -> Result<(), Flaw> {
        for metric in names.metrics {
            let (kind, contains) = (metric_kind(metric.kind)?, value_kind(metric.contains)?);
            let id = self.registry.register(&metric.name, kind, contains);
            let id = id.map_err(|_| "a metric has another kind than on the hub")?;
            self.metrics.push((id, kind));
        }
        for tags in names.tag_sets {
            if self.tag_sets.len() >= TAG_SETS_MAX {
                return Err("there are too many tag sets");
            }
            let (pairs, rest) = tags.words.as_chunks::<2>();
            if !rest.is_empty() {
                return Err("a tag has no value");
            }
            let pairs = pairs.iter().map(|[name, value]| (name.as_str().into(), value.as_str().into()));
            self.tag_sets.push(self.tags.intern(TagSet::new(pairs)));
        }
        Ok(())
    }

    /// The series of a part.
    ///
    /// # Errors
    /// A number has no name, or a cell is not readable.
    pub fn series(&self, rows: &[Series]) -> Result<Vec<(SeriesKey, Aggregate)>, Flaw> {
        rows.iter().map(|row| self.one_series(row)).collect()
    }

    /// The load, exemplars and errors of a part.
    ///
    /// # Errors
    /// A number has no name.
    pub fn notes(&self, part: &WindowPart) -> Result<Noted, Flaw> {
        Ok(Noted {
            load: part.load.iter().map(|row| self.load(row)).collect::<Result<_, _>>()?,
            exemplars: part.exemplars.iter().map(|row| self.exemplar(row)).collect::<Result<_, _>>()?,
            errors: part.errors.iter().map(|row| self.error(row)).collect::<Result<_, _>>()?,
            // Only the hub that handed them out needs to know.
            leased: Vec::new(),
        })
    }

    /// Raw samples.
    ///
    /// # Errors
    /// A number has no name.
    pub fn samples(&self, rows: &[SampleRow]) -> Result<Vec<(Sample, Option<Metadata>)>, Flaw> {
        let sample = |row: &SampleRow| {
            let sample = Sample {
                metric: self.metric(row.metric)?.0,
                tags: self.tag_set(row.tags)?,
                value: row.value,
                at: Instant::from_ns(row.at_ns),
                mark: convert::to_mark(row.mark),
            };
            Ok((sample, convert::to_metadata(&row.metadata)))
        };
        rows.iter().map(sample).collect()
    }

    fn one_series(&self, row: &Series) -> Result<(SeriesKey, Aggregate), Flaw> {
        let (metric, kind) = self.metric(row.metric)?;
        let key = SeriesKey { metric, tags: self.tag_set(row.tags)? };
        let aggregate = match (kind, &row.cell) {
            (MetricKind::Counter, Some(Cell::Counter(cell))) => {
                let sum = FixedSum::from_bytes(&cell.sum).map_err(|_| "a sum is not readable")?;
                Aggregate::Counter(CounterTotal { sum, count: count(cell.count)? })
            }
            (MetricKind::Gauge, Some(Cell::Gauge(cell))) => {
                if [cell.last, cell.min, cell.max].iter().any(|value| value.is_nan()) {
                    return Err("a gauge is not a number");
                }
                let last_at = Instant::from_ns(cell.last_ns);
                Aggregate::Gauge(GaugeTotal { last: cell.last, last_at, min: cell.min, max: cell.max })
            }
            (MetricKind::Rate, Some(Cell::Rate(cell))) if cell.passes <= cell.total => {
                Aggregate::Rate(RateTotal { passes: cell.passes, total: count(cell.total)? })
            }
            (MetricKind::Trend, Some(Cell::Trend(cell))) => Aggregate::Trend(trend(cell)?),
            _ => return Err("a cell is not of its metric's kind"),
        };
        Ok((key, aggregate))
    }

    fn load(&self, row: &LoadRow) -> Result<Load, Flaw> {
        let scenario = row.scenario.checked_sub(1).map(|index| self.scenario(index)).transpose()?;
        let work = match row.work {
            0 => Work::Iterations,
            1 => Work::Requests,
            _ => return Err("work is of an unknown kind"),
        };
        let (started, finished) = (count(row.started)?, count(row.finished)?);
        // A million under way for an hour.
        let in_flight_ns = row.in_flight_ns.min(1 << 62);
        Ok(Load { scenario, work, started, finished, in_flight_ns })
    }

    fn scenario(&self, index: u32) -> Result<ScenarioId, Flaw> {
        let known = u16::try_from(index).ok().filter(|index| usize::from(*index) < self.scenarios);
        known.map(ScenarioId).ok_or("a scenario is unknown")
    }

    fn exemplar(&self, row: &ExemplarRow) -> Result<Exemplar, Flaw> {
        Ok(Exemplar {
            kind: match row.kind {
                0 => ExemplarKind::Slowest,
                1 => ExemplarKind::Failed,
                2 => ExemplarKind::Bucket,
                _ => return Err("an exemplar is of an unknown kind"),
            },
            metric: self.metric(row.metric)?.0,
            tags: self.tag_set(row.tags)?,
            at: Instant::from_ns(row.at_ns),
            value: row.value,
            mark: convert::to_mark(row.mark),
            trace_id: row.trace.first_chunk::<16>().map(|bytes| u128::from_be_bytes(*bytes)),
            metadata: convert::to_metadata(&row.metadata),
        })
    }

    fn error(&self, row: &ErrorRow) -> Result<ErrorCount, Flaw> {
        Ok(ErrorCount {
            code: u16::try_from(row.code).map_err(|_| "an error has an unknown code")?,
            message: row.message.as_str().into(),
            tags: self.tag_set(row.tags)?,
            count: count(row.count)?,
            example: row.example.as_str().into(),
        })
    }

    fn metric(&self, number: u32) -> Result<(MetricId, MetricKind), Flaw> {
        self.metrics.get(number as usize).copied().ok_or("a metric has no name")
    }

    fn tag_set(&self, number: u32) -> Result<TagSetId, Flaw> {
        self.tag_sets.get(number as usize).copied().ok_or("a tag set has no name")
    }
}

/// The lines of a log frame.
pub fn lines(log: &Log) -> Vec<LogLine> {
    let line = |row: &LineRow| LogLine {
        at: Instant::from_ns(row.at_ns),
        level: match row.level {
            0 => LogLevel::Debug,
            1 => LogLevel::Info,
            2 => LogLevel::Warn,
            _ => LogLevel::Error,
        },
        message: row.message.clone(),
        source: SOURCES.into_iter().find(|source| *source == row.source).unwrap_or(""),
        fields: Vec::new(),
    };
    log.lines.iter().map(line).collect()
}

fn trend(cell: &TrendCell) -> Result<Trend, Flaw> {
    let failures = cell.failures.as_ref().map(|failures| -> Result<_, Flaw> {
        Ok(Box::new(Failures {
            timed_out: values(&failures.timed_out)?,
            cut: values(&failures.cut)?,
            dropped: count(failures.dropped)?,
            failed: count(failures.failed)?,
        }))
    });
    Ok(Trend { values: values(&cell.values)?, failures: failures.transpose()? })
}

fn values(bytes: &[u8]) -> Result<Values, Flaw> {
    let values = Values::from_bytes(bytes).map_err(|_| "values are not readable")?;
    count(values.count())?;
    Ok(values)
}

fn count(count: u64) -> Result<u64, Flaw> {
    if count > COUNT_MAX { Err("a count is impossibly large") } else { Ok(count) }
}

fn kind_number(kind: MetricKind) -> u32 {
    match kind {
        MetricKind::Counter => 0,
        MetricKind::Gauge => 1,
        MetricKind::Rate => 2,
        MetricKind::Trend => 3,
    }
}

fn metric_kind(number: u32) -> Result<MetricKind, Flaw> {
    Ok(match number {
        0 => MetricKind::Counter,
        1 => MetricKind::Gauge,
        2 => MetricKind::Rate,
        3 => MetricKind::Trend,
        _ => return Err("a metric is of an unknown kind"),
    })
}

fn contains_number(contains: ValueKind) -> u32 {
    match contains {
        ValueKind::Default => 0,
        ValueKind::Time => 1,
        ValueKind::Data => 2,
    }
}

fn value_kind(number: u32) -> Result<ValueKind, Flaw> {
    Ok(match number {
        0 => ValueKind::Default,
        1 => ValueKind::Time,
        2 => ValueKind::Data,
        _ => return Err("a metric is of an unknown unit"),
    })
}

#[cfg(test)]
mod tests {
    use bytes::BytesMut;
    use model::Mark;
    use proptest::prelude::*;
    use tally::{Merger, Notes, Recorder};

    use super::*;
    use crate::codec;
    use crate::message::Frame;

    /// A sample: metric, tag set, value, mark and instant.
    type Recorded = (u8, u8, f64, Mark, u64);

    fn any_sample() -> impl Strategy<Value = Recorded> {
        let mark = prop::sample::select(vec![
            Mark::Measured,
            Mark::Measured,
            Mark::Measured,
            Mark::TimedOut,
            Mark::Cut,
            Mark::Failed,
        ]);
        (0..4u8, 0..5u8, prop_oneof![-1e9..1e9f64, Just(f64::INFINITY), Just(0.0)], mark, 0..1_000_000_000u64)
    }

    /// Metrics and tags of one process, in an order of its own.
    struct Process {
        registry: Arc<MetricRegistry>,
        tags: Arc<TagInterner>,
        metrics: Vec<MetricId>,
        sets: Vec<TagSetId>,
    }

    impl Process {
        fn new(is_reversed: bool) -> Process {
            let (registry, tags) = (Arc::<MetricRegistry>::default(), Arc::<TagInterner>::default());
            let kinds = [MetricKind::Counter, MetricKind::Gauge, MetricKind::Rate, MetricKind::Trend];
            let order: Vec<usize> = if is_reversed { (0..5).rev().collect() } else { (0..5).collect() };
            let mut metrics = vec![MetricId(0); 4];
            let mut sets = vec![TagSetId(0); 5];
            for &number in &order {
                if let Some(kind) = kinds.get(number) {
                    let id = registry.register(&format!("m{number}"), *kind, ValueKind::Time);
                    metrics[number] = id.expect("new");
                }
                sets[number] = tags.intern(TagSet::new([("n".into(), number.to_string().as_str().into())]));
            }
            Process { registry, tags, metrics, sets }
        }

        /// The window of samples, as the engine makes it.
        fn window(&self, samples: &[Recorded], shift_ns: i64) -> Window {
            let mut recorder = Recorder::new(self.registry.clone());
            let mut notes = Notes::new(2);
            let at = |ns: u64| Instant::from_ns((ns + (1 << 40)).saturating_add_signed(shift_ns));
            for (number, &(metric, set, value, mark, ns)) in samples.iter().enumerate() {
                let (metric, set) = (self.metrics[usize::from(metric)], self.sets[usize::from(set)]);
                recorder.record(metric, set, value, mark, at(ns));
                let scenario = Some(ScenarioId((number % 2) as u16));
                notes.load.start(scenario, Work::Requests, at(ns));
                notes.load.finish(scenario, Work::Requests, at(ns + 7));
                if mark != Mark::Measured {
                    notes.errors.count(1050, "timeout", self.sets[0], || "the same".to_owned());
                }
            }
            let mut merger = Merger::default();
            merger.add(recorder.take_window());
            merger.add_notes(notes.take(at(2_000_000_000)));
            merger.take(3, at(0), at(2_000_000_000))
        }
    }

    /// Frames through the codec, into the hub's merger.
    fn deliver(bodies: Vec<Body>, inbound: &mut Inbound, merger: &mut Merger) {
        for body in bodies {
            let sent = codec::encode(&Frame { number: 1, received: 0, body: Some(body) }).expect("small");
            let frame = codec::decode(&mut BytesMut::from(&sent[..])).expect("intact").expect("complete");
            match frame.body {
                Some(Body::Names(names)) => inbound.learn(names).expect("known kinds"),
                Some(Body::Window(part)) => {
                    merger.add(inbound.series(&part.series).expect("named"));
                    merger.add_notes(inbound.notes(&part).expect("named"));
                }
                other => panic!("unexpected {other:?}"),
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Any samples, dealt to any number of agents with clocks of their own: the merged window is that of one process, bit
        /// for bit.
        #[test]
        fn merged_windows_are_those_of_one_process(
            samples in prop::collection::vec(any_sample(), 0..200),
            agents in 1..8usize,
            shifts in prop::collection::vec(-1_000_000_000i64..1_000_000_000, 8),
        ) {
            let hub = Process::new(false);
            let one = hub.window(&samples, 0);
            let mut merger = Merger::default();
            for (agent, shift_ns) in shifts.iter().enumerate().take(agents) {
                let process = Process::new(agent % 2 == 0);
                let own: Vec<Recorded> =
                    samples.iter().enumerate().filter(|(n, _)| n % agents == agent).map(|(_, it)| *it).collect();
                // The second of two equal numbers of one process is of the same scenario on an agent.
                let window = process.window(&own, *shift_ns);
                let mut outbound = Outbound::new(process.registry.clone(), process.tags.clone());
                outbound.set_offset(-shift_ns);
                let mut inbound = Inbound::new(hub.registry.clone(), hub.tags.clone(), 2);
                deliver(outbound.window(&window), &mut inbound, &mut merger);
            }
            let merged = merger.take(3, one.start, one.end);
            prop_assert_eq!(&merged.series, &one.series);
            prop_assert_eq!(&merged.errors, &one.errors);
            let whole = |window: &Window| {
                window.load.iter().fold((0, 0, 0), |sum, load| {
                    (sum.0 + load.started, sum.1 + load.finished, sum.2 + load.in_flight_ns)
                })
            };
            prop_assert_eq!(whole(&merged), whole(&one));
        }
    }

    #[test]
    fn large_windows_travel_in_parts() {
        let process = Process::new(false);
        let tags: Vec<TagSetId> = (0..3_000)
            .map(|number| {
                process.tags.intern(TagSet::new([("url".into(), format!("{number:0>900}").as_str().into())]))
            })
            .collect();
        let mut recorder = Recorder::new(process.registry.clone());
        for set in &tags {
            for value in 0..60 {
                let value = f64::from(value) + 0.125;
                recorder.record(process.metrics[3], *set, value, Mark::Measured, Instant::ZERO);
            }
        }
        let mut merger = Merger::default();
        merger.add(recorder.take_window());
        let window = merger.take(0, Instant::ZERO, Instant::from_ns(9));
        let mut outbound = Outbound::new(process.registry.clone(), process.tags.clone());
        let bodies = outbound.window(&window);
        let parts = bodies.iter().filter(|body| matches!(body, Body::Window(_))).count();
        assert!(parts > 1 && bodies.len() - parts > 2, "{parts} parts of {} frames", bodies.len());
        let hub = Process::new(false);
        let mut inbound = Inbound::new(hub.registry.clone(), hub.tags.clone(), 0);
        deliver(bodies, &mut inbound, &mut merger);
        assert_eq!(merger.take(0, Instant::ZERO, Instant::from_ns(9)).series.len(), window.series.len());
        assert_eq!(outbound.window(&Window::default()).len(), 1, "names are sent once");
    }

    #[test]
    fn frames_that_make_no_sense_are_refused() {
        let hub = Process::new(false);
        let mut inbound = Inbound::new(hub.registry.clone(), hub.tags.clone(), 1);
        let row = |metric, tags, cell| Series { metric, tags, cell };
        let rate = Some(Cell::Rate(RateCell { passes: 1, total: 2 }));
        assert!(inbound.series(&[row(0, 0, rate.clone())]).is_err(), "without names");
        let metric = |kind| MetricName { name: "m2".into(), kind, contains: 1 };
        let names = |kind| Names { metrics: vec![metric(kind)], tag_sets: vec![Tags::default()] };
        assert!(inbound.learn(names(0)).is_err(), "it is a rate on the hub");
        inbound.learn(names(2)).expect("the same");
        assert!(inbound.series(&[row(0, 0, rate)]).is_ok());
        for cell in [
            None,
            Some(Cell::Rate(RateCell { passes: 3, total: 2 })),
            Some(Cell::Rate(RateCell { passes: 0, total: u64::MAX })),
            Some(Cell::Counter(CounterCell::default())),
        ] {
            assert!(inbound.series(&[row(0, 0, cell.clone())]).is_err(), "{cell:?}");
        }
        let of_scenario = |scenario| WindowPart {
            load: vec![LoadRow { scenario, ..LoadRow::default() }],
            ..WindowPart::default()
        };
        assert!(inbound.notes(&of_scenario(1)).is_ok());
        assert!(inbound.notes(&of_scenario(2)).is_err());
        let odd = Names { metrics: Vec::new(), tag_sets: vec![Tags { words: vec!["a".into()] }] };
        assert!(inbound.learn(odd).is_err());
    }
}
