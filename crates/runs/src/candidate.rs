//! Stored runs as input of comparisons.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::path::Path;

use analysis::compare::{Facts, LoadSecond, Run, Series};
use model::metric::builtin::{
    HTTP_REQ_DURATION, HTTP_REQ_RESPONSE_TIME, ITERATION_DURATION, ITERATION_RESPONSE_TIME,
};
use model::{Aggregate, Grade, Instant, MetricId, SeriesKey, TagSet, Validity, ValueKind, Window, Work};
use runfile::Reader;

use super::endpoints::Naming;
use super::failed;
use super::offered::Offered;
use super::read::{open, whole};
use super::seconds::{Rows, Slot};
use crate::Failure;

/// Maximum number of endpoints compared: those with the most requests. More result from ids in URLs.
const ENDPOINTS_MAX: usize = 1_000;

/// Tolerance, seconds, by which a window may begin before or end after the scenarios: the events that mark them are delayed by
/// thread scheduling.
const SLACK_S: f64 = 0.1;

/// Minimum length of a window, seconds: the last window of a run may be shorter.
const WINDOW_S_MIN: f64 = 0.5;

/// Trends compared as a whole, besides the endpoints.
const WHOLE: [(MetricId, &str); 3] = [
    (HTTP_REQ_RESPONSE_TIME, "http_req_response_time"),
    (ITERATION_DURATION, "iteration_duration"),
    (ITERATION_RESPONSE_TIME, "iteration_response_time"),
];

/// A run to compare.
pub struct Candidate {
    reader: Reader,
    offered: Option<Offered>,
    /// The windows under load, with their times in seconds from the start of the scenarios.
    seconds: Vec<(u32, Range<f64>)>,
    /// The sum of the windows.
    sum: Window,
}

/// Maximum number of other metrics compared: those that thresholds are about.
const OWN_METRICS_MAX: usize = 20;

/// The series to compare, in order of importance.
pub struct Chosen {
    names: Vec<String>,
    naming: Naming,
    /// Number of endpoints left out because they have the fewest requests.
    pub left_out: usize,
}

impl Candidate {
    /// Opens a run and finds its seconds under load: those of the scenarios, without setup, teardown and iterations after the
    /// planned end.
    ///
    /// # Errors
    /// The file is not a run, or is damaged.
    pub fn open(path: &Path) -> Result<Candidate, Failure> {
        let reader = open(path)?;
        let offered = Offered::from_header(reader.header());
        let planned_s = offered.as_ref().and_then(Offered::planned_s);
        let seconds = seconds(&reader, planned_s)?;
        let sum = reader.sum(range(&seconds)).map_err(|error| failed(&error))?;
        Ok(Candidate { reader, offered, seconds, sum })
    }

    /// Returns the reader of the run's file.
    pub fn reader(&self) -> &Reader {
        &self.reader
    }

    /// Returns the run's seconds with these series.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn run(&self, chosen: &Chosen) -> Result<Run, Failure> {
        let (series, validity) = self.series(chosen)?;
        Ok(Run { facts: self.facts(&validity), load: self.load()?, series })
    }

    /// Returns the start and end of some of the seconds under load, or of all.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn instants(&self, part: Option<Range<usize>>) -> Result<Option<Range<Instant>>, Failure> {
        let seconds = self.seconds.get(part.unwrap_or(0..self.seconds.len())).unwrap_or_default();
        let spans = self.reader.spans(range(seconds)).map_err(|error| failed(&error))?;
        let ends = spans.first().zip(spans.last());
        Ok(ends.map(|((_, first), (_, last))| first.start..last.end))
    }

    fn facts(&self, validity: &Validity) -> Facts {
        let grade = validity.grade;
        let faults = validity.reasons.iter().filter(|reason| reason.grade >= Grade::Degraded);
        let header = self.reader.header();
        Facts {
            name: header.run_id.clone(),
            script_hash: script_hash(&self.reader),
            planned_s: self.offered.as_ref().and_then(Offered::planned_s),
            // The end of a killed run is unknown, so its grade is at best degraded.
            grade: if self.reader.is_partial() { grade.max(Grade::Degraded) } else { grade },
            faults: faults.map(|reason| reason.fault).collect(),
            target_version: header.target_version.clone(),
            closed_vus: self.offered.as_ref().and_then(Offered::closed_vus),
            plan: self.offered.as_ref().map(Offered::planned_load),
        }
    }

    fn load(&self) -> Result<Vec<LoadSecond>, Failure> {
        let mut seconds: HashMap<u32, LoadSecond> = HashMap::new();
        for row in self.reader.load(range(&self.seconds)).map_err(|error| failed(&error))? {
            if row.work == Work::Iterations && row.scenario.is_some() {
                let second = seconds.entry(row.window).or_default();
                second.started = second.started.saturating_add(row.started);
                second.finished = second.finished.saturating_add(row.finished);
            }
        }
        let second = |(index, span): &(u32, Range<f64>)| LoadSecond {
            offered: self.offered.as_ref().and_then(|offered| offered.due_between(span.start, span.end)),
            ..seconds.get(index).copied().unwrap_or_default()
        };
        Ok(self.seconds.iter().map(second).collect())
    }

    /// Reads the series and the validity grade, as `show` and the reports do, in one pass.
    fn series(&self, chosen: &Chosen) -> Result<(Vec<Series>, Validity), Failure> {
        let slots = self.slots(chosen);
        let names = chosen.names.iter().filter(|name| slots.has(name));
        let indexes = self.seconds.iter().map(|second| second.0).collect();
        let mut rows = Rows::new(names.map(|name| Series::new(name.as_str())).collect(), indexes);
        let (window, _) = whole(&self.reader)?;
        // The cells of a series follow each other, so its slot is looked up once per minute.
        let mut last: Option<(SeriesKey, Option<Slot>)> = None;
        let validity = crate::validity::of_stored_beside(
            &self.reader,
            &window,
            None,
            |key| slots.by_key.contains_key(&key),
            |index, key, brief| {
                let slot = match last {
                    Some((known, slot)) if known == key => slot,
                    _ => slots.by_key.get(&key).copied(),
                };
                last = Some((key, slot));
                if let Some(slot) = slot {
                    rows.add(index, slot, brief);
                }
            },
        )?;
        Ok((rows.finish(), validity))
    }

    fn slots(&self, chosen: &Chosen) -> Slots {
        let own = self.own_series(&chosen.naming);
        let mut places: HashMap<String, usize> = HashMap::new();
        let existing: HashSet<&str> = own.iter().map(|one| one.name.as_str()).collect();
        for name in chosen.names.iter().filter(|name| existing.contains(name.as_str())) {
            places.insert(name.clone(), places.len());
        }
        let slot = |one: &OwnSeries| {
            Some((one.key, Slot { place: *places.get(&one.name)?, is_failure: one.is_failure }))
        };
        Slots { by_key: own.iter().filter_map(slot).collect(), places }
    }

    /// The names of the run's endpoints, before they are matched with those of the other side.
    fn endpoints(&self) -> BTreeSet<String> {
        let own = self.own_series(&Naming::default()).into_iter();
        own.filter(|one| one.key.metric == HTTP_REQ_DURATION).map(|one| one.name).collect()
    }

    fn own_series(&self, naming: &Naming) -> Vec<OwnSeries> {
        let selectors: Vec<Selector> =
            self.reader.header().thresholds.iter().map(|facts| Selector::parse(&facts.selector)).collect();
        let own = self.sum.series.iter().filter_map(|(key, aggregate)| {
            let Aggregate::Trend(trend) = aggregate else { return None };
            let set = self.reader.tags().get(key.tags);
            let is_endpoint = key.metric == HTTP_REQ_DURATION;
            let metric = self.reader.registry().get(key.metric);
            let selected = |selector: &&Selector| *selector.metric == *metric.name && selector.selects(&set);
            let selector = selectors.iter().find(selected);
            let name = match WHOLE.iter().find(|(metric, _)| *metric == key.metric) {
                Some((_, name)) => (*name).to_owned(),
                None if is_endpoint => {
                    let tag = |name| set.get(name).unwrap_or_default();
                    naming.name(format!("{} {}", tag("method"), tag("name")).trim().to_owned())
                }
                // Of other times, those matter that a threshold is about.
                None if metric.contains == ValueKind::Time => selector?.text.clone(),
                None => return None,
            };
            Some(OwnSeries {
                key: *key,
                name,
                is_failure: set.get("expected_response") == Some("false"),
                // A threshold on all requests prefers no endpoint.
                has_objective: selectors
                    .iter()
                    .any(|one| selected(&one) && (!is_endpoint || !one.tags.is_empty())),
                population: trend.population(),
                time_ms: trend.values.sum().value(),
            })
        });
        own.collect()
    }
}

/// A threshold's selector: `metric{tag:value,…}`.
struct Selector {
    text: String,
    metric: String,
    tags: Vec<(String, String)>,
}

impl Selector {
    fn parse(text: &str) -> Selector {
        let (metric, tags) = text.split_once('{').unwrap_or((text, ""));
        let pair = |pair: &str| {
            let (tag, value) = pair.split_once(':')?;
            Some((tag.trim().to_owned(), value.trim().trim_matches('"').to_owned()))
        };
        let tags = tags.trim_end_matches('}').split(',').filter_map(pair);
        Selector { text: text.to_owned(), metric: metric.trim().to_owned(), tags: tags.collect() }
    }

    fn selects(&self, set: &TagSet) -> bool {
        self.tags.iter().all(|(tag, value)| set.get(tag) == Some(value.as_str()))
    }
}

impl Chosen {
    /// Chooses series among the runs of a side and of those it is compared with: the busiest endpoints, those of thresholds first,
    /// then those that take the most time; then series that are not about requests alone.
    pub fn among(first: &[Candidate], others: &[&[Candidate]]) -> Chosen {
        let endpoints =
            |side: &[Candidate]| side.iter().flat_map(Candidate::endpoints).collect::<BTreeSet<_>>();
        let of_others: Vec<BTreeSet<String>> = others.iter().map(|side| endpoints(side)).collect();
        let naming = Naming::of(&endpoints(first), &of_others);
        let mut weights: HashMap<String, Weight> = HashMap::new();
        let mut own: BTreeSet<String> = BTreeSet::new();
        let mut whole = [false; WHOLE.len()];
        let all = first.iter().chain(others.iter().copied().flatten());
        for one in all.flat_map(|candidate| candidate.own_series(&naming)) {
            if let Some(place) = WHOLE.iter().position(|(metric, _)| *metric == one.key.metric) {
                whole[place] = true;
            } else if one.key.metric == HTTP_REQ_DURATION {
                weights.entry(one.name).or_default().add(one.has_objective, one.population, one.time_ms);
            } else {
                own.insert(one.name);
            }
        }
        let mut endpoints: Vec<(String, Weight)> = weights.into_iter().collect();
        endpoints
            .sort_by(|(a, of_a), (b, of_b)| (Reverse(of_a.requests), a).cmp(&(Reverse(of_b.requests), b)));
        let left_out = endpoints.len().saturating_sub(ENDPOINTS_MAX);
        endpoints.truncate(ENDPOINTS_MAX);
        endpoints.sort_by(|(_, a), (_, b)| b.time_ms.total_cmp(&a.time_ms));
        let (first, rest): (Vec<_>, Vec<_>) =
            endpoints.into_iter().partition(|(_, weight)| weight.has_objective);
        let whole = WHOLE.iter().zip(whole).filter(|(_, exists)| *exists);
        let whole = whole.map(|((_, name), _)| (*name).to_owned());
        let own = own.into_iter().take(OWN_METRICS_MAX);
        let name = |(name, _): (String, Weight)| name;
        let names = first.into_iter().map(name).chain(own).chain(rest.into_iter().map(name)).chain(whole);
        Chosen { names: names.collect(), naming, left_out }
    }

    /// The host of the first side and that of another that stand for each other, if they differ.
    pub fn hosts(&self, other: usize) -> Option<&(String, String)> {
        self.naming.hosts.get(other)?.as_ref()
    }
}

/// How much an endpoint matters.
#[derive(Clone, Copy, Debug, Default)]
struct Weight {
    has_objective: bool,
    requests: u64,
    /// The time that all of its requests took together.
    time_ms: f64,
}

impl Weight {
    fn add(&mut self, has_objective: bool, requests: u64, time_ms: f64) {
        self.has_objective |= has_objective;
        self.requests = self.requests.saturating_add(requests);
        self.time_ms += time_ms;
    }
}

/// The destinations of a file's series.
struct Slots {
    by_key: HashMap<SeriesKey, Slot>,
    places: HashMap<String, usize>,
}

impl Slots {
    fn has(&self, name: &str) -> bool {
        self.places.contains_key(name)
    }
}

/// A series of a file that belongs to the comparison.
struct OwnSeries {
    key: SeriesKey,
    name: String,
    is_failure: bool,
    /// Whether a threshold is about it.
    has_objective: bool,
    population: u64,
    time_ms: f64,
}

fn range(seconds: &[(u32, Range<f64>)]) -> Range<u32> {
    match (seconds.first(), seconds.last()) {
        (Some(first), Some(last)) => first.0..last.0.saturating_add(1),
        _ => 0..0,
    }
}

/// Returns the whole seconds between the start of the scenarios and their planned end.
fn seconds(reader: &Reader, planned_s: Option<f64>) -> Result<Vec<(u32, Range<f64>)>, Failure> {
    let read = || {
        let marks = reader.marks()?;
        let at = |kind: &str| marks.iter().find(|mark| mark.kind == kind).map(|mark| mark.at);
        let spans = reader.spans(reader.range()?)?;
        Ok((at("scenarios_started"), at("scenarios_ended"), spans))
    };
    let (started, ended, spans) = read().map_err(|error: runfile::ReadError| failed(&error))?;
    let Some(zero) = started.or(spans.first().map(|(_, span)| span.start)) else { return Ok(Vec::new()) };
    let since_zero = |at: Instant| (at.as_ns() as f64 - zero.as_ns() as f64) / 1e9;
    let end_s = ended.map_or(f64::INFINITY, since_zero).min(planned_s.unwrap_or(f64::INFINITY));
    let under_load = |(index, span): (u32, Range<Instant>)| {
        let span = since_zero(span.start)..since_zero(span.end);
        let is_whole = span.end - span.start >= WINDOW_S_MIN;
        let is_inside = span.start >= -SLACK_S && span.end <= end_s + SLACK_S;
        (is_whole && is_inside).then_some((index, span))
    };
    Ok(spans.into_iter().filter_map(under_load).collect())
}

/// Returns a hash that identifies a script: the sum of its modules' hashes, independent of their order.
pub fn script_hash(reader: &Reader) -> Option<String> {
    let modules = &reader.header().modules;
    let begins = modules
        .iter()
        .map(|module| u64::from_str_radix(module.sha256.get(..16)?, 16).ok().map(std::num::Wrapping));
    let sum = begins.sum::<Option<std::num::Wrapping<u64>>>();
    sum.filter(|_| !modules.is_empty()).map(|sum| format!("{:016x}", sum.0))
}
