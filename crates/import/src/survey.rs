//! The first reading of a file of samples: what must be known before its first second can be written.

use std::collections::BTreeMap;
use std::io::BufRead;

use model::plan::{ThresholdCondition, ThresholdSpec};
use model::{MetricId, MetricKind, MetricRegistry, ValueKind};
use rustc_hash::FxHashMap;

use crate::samples::{Definition, Entry, Late, Point, Source};
use crate::{Flaws, ImportError, Kind, known};

/// Samples further than this from the first one are taken for broken lines: no test runs that long, and a clock of 1970 must
/// not make a run of fifty years.
pub const SPAN_DAYS_MAX: i64 = 31;

const SPAN_NS_MAX: i64 = SPAN_DAYS_MAX * 24 * 3600 * 1_000_000_000;

/// Scenarios that are named in a run's head.
const SCENARIOS_MAX: usize = 1000;

/// Contents of a file of samples, from its first reading.
#[derive(Debug)]
pub struct Survey {
    /// When the earliest thing began: the first sample, or the iteration that a sample says has ended.
    pub started_unix_ns: i64,
    /// When the last sample was taken.
    pub ended_unix_ns: i64,
    /// How many samples there are.
    pub samples: u64,
    /// Thresholds on whole metrics, in order of the metrics. k6 writes none on sub-metrics.
    pub thresholds: Vec<ThresholdSpec>,
    /// The scenarios that samples name, by name.
    pub scenarios: Vec<String>,
    /// Facts missing from the source, one sentence each, including its flaws.
    pub gaps: Vec<String>,
    /// Lines that could not be read.
    pub flaws: Flaws,
    /// Its metrics are declared here.
    pub(crate) metrics: Metrics,
    pub(crate) span: Option<Span>,
}

/// The metrics of a file, by the names that it uses.
#[derive(Clone, Debug, Default)]
pub(crate) struct Metrics {
    by_name: FxHashMap<Box<str>, Option<(MetricId, MetricKind)>>,
}

/// Between which instants samples are believed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    first_unix_ns: i64,
}

impl Span {
    fn around(first_unix_ns: i64) -> Span {
        Span { first_unix_ns }
    }

    fn holds(self, unix_ns: i64) -> bool {
        unix_ns.abs_diff(self.first_unix_ns) <= SPAN_NS_MAX.unsigned_abs()
    }
}

impl Metrics {
    /// The metric of this name; `None` if it is not known here or cannot be kept.
    pub(crate) fn get(&self, name: &str) -> Option<(MetricId, MetricKind)> {
        *self.by_name.get(name)?
    }
}

/// Describes the flaw of a sample that could be parsed; `None` if it has none.
pub(crate) fn flaw(point: &Point<'_>, kind: MetricKind, span: Option<Span>) -> Option<&'static str> {
    if !point.value.is_finite() {
        return Some("its value is no finite number");
    }
    if kind == MetricKind::Counter && point.value < 0.0 {
        return Some("a counter cannot count less than nothing");
    }
    (!span.is_some_and(|span| span.holds(point.unix_ns)))
        .then_some("its time is more than a month from the first one's")
}

/// State of the first reading of a file.
struct Reading<'a> {
    registry: &'a MetricRegistry,
    metrics: Metrics,
    thresholds: Vec<ThresholdSpec>,
    scenarios: BTreeMap<String, ()>,
    /// By the tags' text: whether its scenario was noted already.
    seen_tags: rustc_hash::FxHashSet<Box<str>>,
    flaws: Flaws,
    late: Late,
    span: Option<Span>,
    started_unix_ns: i64,
    samples: u64,
    /// Metrics whose kind no line declares.
    guessed: Vec<String>,
    /// Names that are something else here.
    refused: Vec<String>,
    /// Selectors whose thresholds the file does not have.
    bare_selectors: Vec<String>,
    has_whole_seconds: bool,
}

/// Distinct tag texts that the first reading remembers; what comes later is looked at each time.
const TAG_TEXTS_MAX: usize = 65_536;

impl Survey {
    /// Reads a whole file for the first time, and declares its metrics.
    ///
    /// # Errors
    /// The file cannot be read, or holds no sample.
    pub fn read(
        kind: Kind,
        input: &mut dyn BufRead,
        registry: &MetricRegistry,
    ) -> Result<Survey, ImportError> {
        let mut reading = Reading::new(registry);
        let mut source = Source::new(kind, input)?;
        while let Some(entry) = source.next()? {
            match entry {
                Entry::Flawed(line, why) => reading.flaws.add(line, why),
                Entry::Definition(definition) => reading.define(definition),
                Entry::Point(point) => reading.take(kind, &point),
            }
        }
        if reading.samples == 0 {
            return Err(ImportError::Nothing { kind, why: reading.flaws.first() });
        }
        Ok(reading.finish(kind))
    }
}

impl<'a> Reading<'a> {
    fn new(registry: &'a MetricRegistry) -> Reading<'a> {
        Reading {
            registry,
            metrics: Metrics::default(),
            thresholds: Vec::new(),
            scenarios: BTreeMap::new(),
            seen_tags: Default::default(),
            flaws: Flaws::default(),
            late: Late::default(),
            span: None,
            started_unix_ns: i64::MAX,
            samples: 0,
            guessed: Vec::new(),
            refused: Vec::new(),
            bare_selectors: Vec::new(),
            has_whole_seconds: false,
        }
    }

    fn define(&mut self, definition: Definition) {
        let Definition { name, kind, contains, thresholds, sub_metrics } = definition;
        if self.metrics.by_name.contains_key(name.as_str()) {
            return;
        }
        self.declare(&name, kind, contains);
        let always = "http_req_duration{expected_response:true}";
        self.bare_selectors.extend(sub_metrics.into_iter().filter(|selector| selector != always));
        if !thresholds.is_empty() {
            let condition = |source| ThresholdCondition {
                source,
                abort_on_fail: false,
                delay_abort_eval: Default::default(),
            };
            let conditions = thresholds.into_iter().map(condition).collect();
            self.thresholds.push(ThresholdSpec { selector: name, conditions });
        }
    }

    fn declare(&mut self, name: &str, kind: MetricKind, contains: ValueKind) -> Option<MetricKind> {
        let declared = self.registry.register(name, kind, contains).ok().map(|id| (id, kind));
        if declared.is_none() {
            self.refused.push(name.to_owned());
        }
        self.metrics.by_name.insert(name.into(), declared);
        declared.map(|declared| declared.1)
    }

    /// Kind of a sample's metric. An undeclared one is built into k6, or else a distribution, which loses nothing.
    fn kind_of(&mut self, name: &str) -> Option<MetricKind> {
        if let Some(known) = self.metrics.by_name.get(name) {
            return known.map(|known| known.1);
        }
        let (kind, contains) = known::metric(name).unwrap_or_else(|| {
            self.guessed.push(name.to_owned());
            (MetricKind::Trend, ValueKind::Default)
        });
        self.declare(name, kind, contains)
    }

    fn take(&mut self, format: Kind, point: &Point<'_>) {
        let Some(kind) = self.kind_of(&point.metric) else {
            return self.flaws.add(point.line, "its metric is of another kind here");
        };
        let span = *self.span.get_or_insert(Span::around(point.unix_ns));
        if let Some(why) = flaw(point, kind, Some(span)) {
            return self.flaws.add(point.line, why);
        }
        self.samples += 1;
        self.has_whole_seconds |= point.is_whole_seconds;
        self.late.place(point.unix_ns);
        self.started_unix_ns = self.started_unix_ns.min(point.began_unix_ns());
        self.note_scenario(format, point);
    }

    fn note_scenario(&mut self, format: Kind, point: &Point<'_>) {
        if self.seen_tags.contains(point.tags) {
            return;
        }
        if self.seen_tags.len() < TAG_TEXTS_MAX {
            self.seen_tags.insert(point.tags.into());
        }
        let scenario =
            crate::samples::tags(format, point.tags).into_iter().find(|(name, _)| name == "scenario");
        if let Some((_, scenario)) = scenario.filter(|_| self.scenarios.len() < SCENARIOS_MAX) {
            self.scenarios.insert(scenario, ());
        }
    }

    fn finish(mut self, kind: Kind) -> Survey {
        let gaps = self.gaps(kind);
        self.thresholds.sort_by(|a, b| a.selector.cmp(&b.selector));
        Survey {
            started_unix_ns: self.started_unix_ns,
            ended_unix_ns: self.late.newest_unix_ns(),
            samples: self.samples,
            thresholds: self.thresholds,
            scenarios: self.scenarios.into_keys().collect(),
            gaps,
            flaws: self.flaws,
            metrics: self.metrics,
            span: self.span,
        }
    }

    fn gaps(&self, kind: Kind) -> Vec<String> {
        let mut gaps = match kind {
            Kind::K6Json | Kind::K6Csv => vec![
            "k6 wrote samples and not the run's length: it is counted from the first iteration's start to the last sample, and \
             figures per second are over that"
                .to_owned(),
            "numbers are k6's: a request that failed at once is a sample of 0 ms, and one that timed out counts with its timeout"
                .to_owned(),
            "the load's plan, its lateness and the machine that made it are not in the source".to_owned(),
            ],
            _ => vec![
                "the run's length is that from the first request's start to the last one's end".to_owned(),
                "the load's plan, its lateness and the machine that made it are not in the source".to_owned(),
            ],
        };
        let list = |names: &[String]| listed(names);
        if kind == Kind::K6Csv {
            gaps.push("values are rounded to six decimals, and thresholds are not in the source".to_owned());
        }
        if self.has_whole_seconds {
            gaps.push(
                "times are whole seconds, and so the length and all figures per second are rough".to_owned(),
            );
        }
        if !self.guessed.is_empty() {
            gaps.push(format!(
                "the source does not say what kind of metric these are; they are kept as distributions of plain numbers: {}",
                list(&self.guessed)
            ));
        }
        if !self.refused.is_empty() {
            gaps.push(format!(
                "these metrics have the name of one that is of another kind here, and are left out: {}",
                list(&self.refused)
            ));
        }
        if !self.bare_selectors.is_empty() {
            gaps.push(format!(
                "thresholds on parts of metrics, if there were any, are not in the source: {}",
                list(&self.bare_selectors)
            ));
        }
        gaps.extend(self.late.sentence());
        gaps.extend(self.flaws.sentence());
        gaps
    }
}

/// Names in a sentence, the first few.
fn listed(names: &[String]) -> String {
    const SHOWN_MAX: usize = 8;
    let shown = names.iter().take(SHOWN_MAX).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let more = names.len().saturating_sub(SHOWN_MAX);
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}
