//! Samples become the seconds that a run of ours would have had.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::io::BufRead;
use std::sync::Arc;

use model::{
    Aggregate, Instant, Mark, MetricKind, MetricRegistry, SeriesKey, TagInterner, TagSet, TagSetId,
    ValueKind, Window,
};
use rustc_hash::FxHashMap;
use tally::{Errors, Merger, Noted};

use crate::k6_csv::CsvSource;
use crate::k6_json::JsonSource;
use crate::requests::RequestSource;
use crate::survey::{self, Survey};
use crate::{ImportError, Kind};

/// How much older than the newest sample before it a sample may be and still get into its own second. k6 writes what many VUs
/// measured every second, in no order.
pub const LATE_SECONDS_MAX: i64 = 10;

/// Where an imported run begins on the monotonic clock of its file. Not at zero, which means "never" in some places.
pub const RUN_START: Instant = Instant::from_ns(1_000_000_000);

const NS_PER_S: i64 = 1_000_000_000;
const LATE_NS_MAX: i64 = LATE_SECONDS_MAX * NS_PER_S;

/// Distinct texts of tags whose sets are remembered; a file with more is read as well, only slower.
const TAG_TEXTS_MAX: usize = 65_536;

/// One sample of a source.
#[derive(Debug)]
pub(crate) struct Point<'a> {
    pub(crate) line: u64,
    pub(crate) metric: Cow<'a, str>,
    pub(crate) unix_ns: i64,
    pub(crate) value: f64,
    /// The tags as the source writes them; [`tags`] reads them.
    pub(crate) tags: &'a str,
    pub(crate) is_whole_seconds: bool,
    /// When what it measures began, where the source says so.
    pub(crate) began: Option<i64>,
}

/// A metric as a source declares it.
#[derive(Debug)]
pub(crate) struct Definition {
    pub(crate) name: String,
    pub(crate) kind: MetricKind,
    pub(crate) contains: ValueKind,
    pub(crate) thresholds: Vec<String>,
    pub(crate) sub_metrics: Vec<String>,
}

/// The content of one line of a source.
#[derive(Debug)]
pub(crate) enum Entry<'a> {
    Flawed(u64, Cow<'static, str>),
    Definition(Definition),
    Point(Point<'a>),
}

/// A file of samples, whatever its format.
pub(crate) enum Source<'a> {
    Json(JsonSource<'a>),
    Csv(Box<CsvSource<'a>>),
    Requests(Box<RequestSource<'a>>),
}

impl<'a> Source<'a> {
    pub(crate) fn new(kind: Kind, input: &'a mut dyn BufRead) -> Result<Source<'a>, ImportError> {
        Ok(match kind {
            Kind::K6Csv => Source::Csv(Box::new(CsvSource::new(input)?)),
            Kind::Jtl | Kind::Gatling | Kind::Vegeta => {
                Source::Requests(Box::new(RequestSource::new(kind, input)?))
            }
            _ => Source::Json(JsonSource::new(input)),
        })
    }

    pub(crate) fn next(&mut self) -> Result<Option<Entry<'_>>, ImportError> {
        match self {
            Source::Json(json) => json.next(),
            Source::Csv(csv) => csv.next(),
            Source::Requests(requests) => requests.next(),
        }
    }
}

/// The tags of a sample, in the order of the source.
pub(crate) fn tags(kind: Kind, text: &str) -> Vec<(String, String)> {
    match kind {
        Kind::K6Csv | Kind::Jtl | Kind::Gatling | Kind::Vegeta => crate::k6_csv::tags(text),
        _ => crate::k6_json::tags(text),
    }
}

impl Point<'_> {
    /// When what it measures began: an iteration's sample is taken at its end.
    pub(crate) fn began_unix_ns(&self) -> i64 {
        if let Some(began) = self.began {
            return began.min(self.unix_ns);
        }
        let is_timed = self.metric == "iteration_duration" && self.value > 0.0 && self.value < 86_400_000.0;
        self.unix_ns.saturating_sub(if is_timed { (self.value * 1e6) as i64 } else { 0 })
    }
}

/// Where late samples go: not into seconds that are written already.
#[derive(Clone, Debug, Default)]
pub(crate) struct Late {
    newest_unix_ns: Option<i64>,
    count: u64,
}

impl Late {
    /// The instant at which a sample counts.
    pub(crate) fn place(&mut self, unix_ns: i64) -> i64 {
        let newest = self.newest_unix_ns.map_or(unix_ns, |newest| newest.max(unix_ns));
        self.newest_unix_ns = Some(newest);
        let earliest = newest.saturating_sub(LATE_NS_MAX);
        self.count += u64::from(unix_ns < earliest);
        unix_ns.max(earliest)
    }

    pub(crate) fn newest_unix_ns(&self) -> i64 {
        self.newest_unix_ns.unwrap_or_default()
    }

    pub(crate) fn sentence(&self) -> Option<String> {
        let samples = if self.count == 1 { "sample" } else { "samples" };
        (self.count > 0).then(|| {
            format!(
                "{} {samples} came more than {LATE_SECONDS_MAX} s after younger ones and count in a later second than their own",
                self.count
            )
        })
    }
}

/// The seconds of a file of samples, read for the second time. At most [`LATE_SECONDS_MAX`] and one of them are in memory.
pub struct Samples<'a> {
    kind: Kind,
    source: Source<'a>,
    survey: &'a Survey,
    registry: Arc<MetricRegistry>,
    tags: Arc<TagInterner>,
    tag_texts: FxHashMap<Box<str>, Tagged>,
    late: Late,
    open: BTreeMap<u32, Second>,
    ready: VecDeque<Window>,
    is_over: bool,
}

/// A set of tags, and the error that it speaks of.
#[derive(Clone, Debug)]
struct Tagged {
    set: TagSetId,
    error: Option<Arc<ErrorFacts>>,
}

#[derive(Debug)]
struct ErrorFacts {
    code: u16,
    message: String,
    url: String,
}

/// A second that may still get samples.
#[derive(Debug, Default)]
struct Second {
    series: FxHashMap<SeriesKey, Aggregate>,
    errors: Errors,
}

impl<'a> Samples<'a> {
    /// Reads the same file once more.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn new(
        kind: Kind,
        input: &'a mut dyn BufRead,
        survey: &'a Survey,
        registry: Arc<MetricRegistry>,
        tags: Arc<TagInterner>,
    ) -> Result<Samples<'a>, ImportError> {
        Ok(Samples {
            kind,
            source: Source::new(kind, input)?,
            survey,
            registry,
            tags,
            tag_texts: FxHashMap::default(),
            late: Late::default(),
            open: BTreeMap::new(),
            ready: VecDeque::new(),
            is_over: false,
        })
    }

    fn advance(&mut self) -> Result<(), ImportError> {
        let Samples { source, survey, late, .. } = self;
        let Some(entry) = source.next()? else {
            self.is_over = true;
            return self.close_until(u32::MAX);
        };
        // Flaws were counted by the first reading.
        let Entry::Point(point) = entry else { return Ok(()) };
        let Some((metric, kind)) = survey.metrics.get(&point.metric) else { return Ok(()) };
        if survey::flaw(&point, kind, survey.span).is_some() {
            return Ok(());
        }
        let placed = late.place(point.unix_ns);
        let tagged = tagged(self.kind, point.tags, &mut self.tag_texts, &self.tags);
        let second = self.open.entry(index(survey, placed)).or_default();
        let at = instant(survey, point.unix_ns);
        let registry = &self.registry;
        let key = SeriesKey { metric, tags: tagged.set };
        let aggregate =
            second.series.entry(key).or_insert_with(|| Aggregate::empty(registry.get(metric).kind));
        aggregate.record(point.value, Mark::Measured, at);
        if let Some(error) = tagged.error.filter(|_| point.metric == "http_reqs") {
            second.errors.count(error.code, &error.message, tagged.set, || error.url.clone());
        }
        let closed = index(survey, late.newest_unix_ns().saturating_sub(LATE_NS_MAX));
        self.close_until(closed)
    }

    /// Closes the seconds before this one.
    fn close_until(&mut self, end: u32) -> Result<(), ImportError> {
        let last = index(self.survey, self.survey.ended_unix_ns);
        while let Some(first) = self.open.first_entry().filter(|first| *first.key() < end) {
            let (index, second) = first.remove_entry();
            let mut merger = Merger::default();
            merger.add(second.series.into_iter().collect());
            let mut errors = second.errors;
            merger.add_notes(Noted { errors: errors.take(), ..Noted::default() });
            let start = RUN_START + std::time::Duration::from_secs(u64::from(index));
            let whole = start + std::time::Duration::from_secs(1);
            let end = if index == last { instant(self.survey, self.survey.ended_unix_ns) } else { whole };
            // A second of one instant has a length all the same, so that it can be asked for.
            let end = end.max(start + std::time::Duration::from_nanos(1));
            self.ready.push_back(merger.take(index, start, end));
        }
        Ok(())
    }
}

impl Iterator for Samples<'_> {
    type Item = Result<Window, ImportError>;

    fn next(&mut self) -> Option<Result<Window, ImportError>> {
        while self.ready.is_empty() && !self.is_over {
            if let Err(error) = self.advance() {
                self.is_over = true;
                return Some(Err(error));
            }
        }
        self.ready.pop_front().map(Ok)
    }
}

/// Nanoseconds from the run's start; nothing lies before it.
fn since_start_ns(survey: &Survey, unix_ns: i64) -> u64 {
    u64::try_from(unix_ns.saturating_sub(survey.started_unix_ns)).unwrap_or(0)
}

fn index(survey: &Survey, unix_ns: i64) -> u32 {
    u32::try_from(since_start_ns(survey, unix_ns) / NS_PER_S.unsigned_abs()).unwrap_or(u32::MAX - 1)
}

fn instant(survey: &Survey, unix_ns: i64) -> Instant {
    RUN_START + std::time::Duration::from_nanos(since_start_ns(survey, unix_ns))
}

fn tagged(kind: Kind, text: &str, known: &mut FxHashMap<Box<str>, Tagged>, interner: &TagInterner) -> Tagged {
    if let Some(tagged) = known.get(text) {
        return tagged.clone();
    }
    let pairs = tags(kind, text);
    let error = error_of(&pairs).map(Arc::new);
    let set =
        interner.intern(TagSet::new(pairs.into_iter().map(|(name, value)| (name.into(), value.into()))));
    let tagged = Tagged { set, error };
    if known.len() < TAG_TEXTS_MAX {
        known.insert(text.into(), tagged.clone());
    }
    tagged
}

/// Builds the error of a failed request from k6's tags.
fn error_of(pairs: &[(String, String)]) -> Option<ErrorFacts> {
    let get = |wanted: &str| pairs.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str());
    let code = get("error_code")?.parse().ok()?;
    let message = get("error")
        .filter(|text| !text.is_empty())
        .map_or_else(|| status_text(get("status")), str::to_owned);
    Some(ErrorFacts { code, message, url: get("url").or(get("name")).unwrap_or_default().to_owned() })
}

fn status_text(status: Option<&str>) -> String {
    status.map_or_else(String::new, |status| format!("status {status}"))
}
