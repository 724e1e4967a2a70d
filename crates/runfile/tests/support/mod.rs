//! Runs made of numbers: the same for the same seed, on every machine.

#![allow(dead_code, missing_docs, reason = "each test uses a part of it")]

use std::collections::BTreeMap;
use std::sync::Arc;

use model::metric::builtin::{CHECKS, HTTP_REQ_DURATION, HTTP_REQS, VUS};
use model::{
    Aggregate, ErrorCount, Exemplar, ExemplarKind, Instant, Load, Mark, MetricId, MetricKind, MetricRegistry,
    RunEvent, ScenarioId, SeriesKey, TagInterner, TagSet, TagSetId, ValueKind, Window, Work,
};
use runfile::{Ending, Header, Module, Reader, Want, Writer};

pub(crate) const SECOND_NS: u64 = 1_000_000_000;
/// When every made run begins on its monotonic clock.
pub(crate) const START_NS: u64 = 5 * SECOND_NS;

/// A made run: so many series, with so many samples each second each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) series: u32,
    pub(crate) samples: u32,
    pub(crate) seed: u64,
}

/// A run with its names.
pub(crate) struct Made {
    pub(crate) shape: Shape,
    pub(crate) registry: Arc<MetricRegistry>,
    pub(crate) tags: Arc<TagInterner>,
    keys: Vec<(SeriesKey, MetricKind)>,
}

impl Made {
    pub(crate) fn new(shape: Shape) -> Made {
        let registry = MetricRegistry::default();
        let own = registry.register("own_trend", MetricKind::Trend, ValueKind::Time).expect("new");
        let tags = TagInterner::default();
        // Three of five are distributions, as in a run with k6's metrics.
        let metrics = [HTTP_REQ_DURATION, HTTP_REQS, own, CHECKS, HTTP_REQ_DURATION, VUS];
        let keys = (0..shape.series).map(|number| {
            let url = format!("https://example.com/\"{number}|\u{1b}[31m</script>");
            let set = TagSet::new([("url".into(), url.into()), ("method".into(), "GET".into())]);
            let metric: MetricId = metrics[number as usize % metrics.len()];
            (SeriesKey { metric, tags: tags.intern(set) }, registry.get(metric).kind)
        });
        let mut keys: Vec<_> = keys.collect();
        keys.sort_by_key(|series| series.0);
        Made { shape, registry: Arc::new(registry), tags: Arc::new(tags), keys }
    }

    pub(crate) fn window(&self, index: u32) -> Arc<Window> {
        let mut random = Random(self.shape.seed ^ u64::from(index).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let start = Instant::from_ns(START_NS + u64::from(index) * SECOND_NS);
        let end = Instant::from_ns(START_NS + (u64::from(index) + 1) * SECOND_NS);
        let series = self.keys.iter().map(|(key, kind)| {
            let mut aggregate = Aggregate::empty(*kind);
            for sample in 0..self.shape.samples {
                // Whole nanoseconds as milliseconds, as they are measured; most between 1 and 30.
                let value = (1e6 + 30e6 * random.unit() * random.unit()).round() / 1e6;
                let mark = match random.next() % 200 {
                    0 => Mark::TimedOut,
                    1 => Mark::Cut,
                    2 => Mark::Dropped,
                    3 => Mark::Failed,
                    _ => Mark::Measured,
                };
                let value = if *kind == MetricKind::Counter { value.floor() } else { value };
                aggregate.record(value, mark, Instant::from_ns(start.as_ns() + u64::from(sample)));
            }
            (*key, aggregate)
        });
        let load = |scenario, work| Load {
            scenario,
            work,
            started: 10,
            finished: 9,
            in_flight_ns: SECOND_NS * 3 / 2,
        };
        let exemplar = Exemplar {
            kind: ExemplarKind::Slowest,
            metric: HTTP_REQ_DURATION,
            tags: self.keys.first().map_or(TagSetId::EMPTY, |series| series.0.tags),
            at: end,
            value: 30.5,
            mark: Mark::Measured,
            trace_id: index.is_multiple_of(2).then_some(u128::MAX - u128::from(index)),
            metadata: Some([("vu".into(), "7".into())].into()),
        };
        let error = ErrorCount {
            code: 1212,
            message: "dial: connection refused".into(),
            tags: TagSetId::EMPTY,
            count: 3,
            example: "https://example.com/a".into(),
        };
        Arc::new(Window {
            index,
            start,
            end,
            series: series.collect(),
            load: vec![load(None, Work::Iterations), load(Some(ScenarioId(0)), Work::Requests)],
            exemplars: vec![exemplar],
            errors: if index.is_multiple_of(3) { vec![error] } else { vec![] },
            leased: Vec::new(),
        })
    }

    pub(crate) fn header(&self, id: &str) -> Header {
        Header {
            run_id: id.into(),
            script: "made.js".into(),
            started_wall_ns: 1_800_000_000 * SECOND_NS as i64,
            started_ns: START_NS,
            options_json: r#"{"vus":1}"#.into(),
            modules: vec![Module {
                path: "made.js".into(),
                text: "export default () => {}".into(),
                ..Module::default()
            }],
            ..Header::default()
        }
    }

    pub(crate) fn writer(&self, path: &std::path::Path, id: &str) -> Writer {
        Writer::create(path, &self.header(id), self.registry.clone(), self.tags.clone()).expect("create")
    }

    /// Writes so many windows and the end.
    pub(crate) fn write(&self, path: &std::path::Path, id: &str, windows: u32) -> runfile::Report {
        let mut writer = self.writer(path, id);
        for index in 0..windows {
            send(&mut writer, self.window(index));
        }
        writer.finish(Ending { elapsed_ns: u64::from(windows) * SECOND_NS, ..Ending::default() })
    }
}

/// Hands a window over, slowly enough for the writer's queue.
pub(crate) fn send(writer: &mut Writer, window: Arc<Window>) {
    writer.on_event(&RunEvent::Window(window));
    std::thread::sleep(std::time::Duration::from_micros(200));
}

/// Merges all windows.
pub(crate) fn merged(windows: impl Iterator<Item = Window>) -> BTreeMap<SeriesKey, Aggregate> {
    let mut sum: BTreeMap<SeriesKey, Aggregate> = BTreeMap::new();
    for (key, aggregate) in windows.flat_map(|window| window.series) {
        sum.entry(key).and_modify(|sum| sum.merge(&aggregate)).or_insert(aggregate);
    }
    sum
}

/// Reads everything in the file, complete or not.
pub(crate) fn read_all(reader: &Reader) -> Result<u32, runfile::ReadError> {
    let mut windows = 0;
    for window in reader.windows(0..u32::MAX) {
        window?;
        windows += 1;
    }
    for minute in reader.minutes(0..u32::MAX)? {
        for want in [Want::Brief, Want::Nothing] {
            reader.minute(minute.clone(), |_| want, |_, _, _| {})?;
        }
    }
    reader.sum(0..u32::MAX)?;
    reader.sum(7..95)?;
    reader.thresholds()?;
    reader.log()?;
    reader.errors()?;
    reader.exemplars(0..u32::MAX)?;
    reader.load(0..u32::MAX)?;
    reader.marks()?;
    reader.notes()?;
    reader.anchors()?;
    reader.signals()?;
    reader.records()?;
    reader.gaps()?;
    reader.traces()?;
    reader.trace_marks()?;
    reader.operations()?;
    Ok(windows)
}

/// Marsaglia's xorshift64: good enough to make numbers.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 3
    }

    fn unit(&mut self) -> f64 {
        (self.next() % (1 << 52)) as f64 / (1u64 << 52) as f64
    }
}
