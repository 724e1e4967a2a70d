//! Server-side evidence for the page and reports: lanes, tables, and sentences that are read from them.
//!
//! Everything covers the selected time range, except records that a source reports once for the whole run.

mod flames;
mod lanes;
mod rows;
mod story;
mod tables;
mod units;
mod ways;

#[cfg(test)]
pub(crate) mod scene;
#[cfg(test)]
mod tests;

pub(crate) use units::clock;

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;

use analysis::traces::Way;
use api::Number;
use api::page::{Evidence, EvidenceSource, Fact, Happening, LaneGap, Subject};
use model::{Datum, Gap, Instant, Record, RecordKind, Signal};

use crate::Lang;
use crate::number;

/// Happenings of an answer.
const HAPPENINGS_MAX: usize = 500;

/// Gaps of a source; those after them are one.
const GAPS_MAX: usize = 100;

/// Everything that sources reported about a run.
#[derive(Clone, Debug, Default)]
pub struct Collected {
    /// Numbers over time.
    pub signals: Vec<Signal>,
    /// Records, which are no series.
    pub records: Vec<Record>,
    /// Gaps in the data of sources.
    pub gaps: Vec<Gap>,
    /// The number of points and records dropped at the run file's size limit.
    pub lost: u64,
}

/// Durations of one kind of task, measured by the waiting client.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measured {
    /// How many were finished.
    pub count: u64,
    /// How long they took on average.
    pub mean_ms: f64,
}

/// The evidence of a run, and the time range that is shown.
#[derive(Clone, Debug, Default)]
pub struct EvidenceView {
    /// All of it.
    pub all: Arc<Collected>,
    /// The ways of work through queues in the part that is looked at, by traces.
    pub ways: Vec<Way>,
    /// How long tasks took in it, by what their traces begin with.
    pub measured: BTreeMap<String, Measured>,
    /// The start of the run's first second: t = 0.
    pub zero: Instant,
    /// The wall clock at that time, nanoseconds since 1970.
    pub zero_unix_ns: i64,
    /// The part that is shown, seconds: never more than the run itself, since servers work before and after it.
    pub part_s: Range<f64>,
}

impl EvidenceView {
    /// Whether there is no evidence.
    pub fn is_empty(&self) -> bool {
        let all = &self.all;
        all.signals.is_empty() && all.records.is_empty() && all.gaps.is_empty() && self.ways.is_empty()
    }

    /// The evidence as it is shown, with series of about so many points.
    pub fn shown(&self, lang: Lang, points_max: usize) -> Evidence {
        let raw = lanes::collect(self, lang);
        let points_max = lanes::points_of_each(&raw, points_max);
        let (happenings, happenings_beyond) = self.happenings();
        let mut beyond = 0;
        let story = story::compose(self, &raw, &happenings, lang);
        Evidence {
            start: self.wall_clock(self.part_s.start),
            end: self.wall_clock(self.part_s.end),
            sources: self.sources(),
            lanes: raw.iter().take(lanes::LANES_MAX).map(|lane| lane.drawn(lang, points_max)).collect(),
            lanes_beyond: raw.len().saturating_sub(lanes::LANES_MAX) as u64,
            happenings,
            happenings_beyond,
            story,
            ways: ways::collect(self, &mut beyond),
            queues: tables::queues(self, &mut beyond),
            statements: tables::statements(self, &mut beyond),
            waits: tables::waits(self, &mut beyond),
            tasks: tables::tasks(self, &mut beyond),
            profiles: flames::profiles(self, &mut beyond),
            configuration: tables::subjects(self, RecordKind::Configuration, &mut beyond),
            warnings: tables::subjects(self, RecordKind::Warning, &mut beyond),
            rows_beyond: beyond,
            lost: self.all.lost,
        }
    }

    fn wall_clock(&self, t: f64) -> String {
        api::rfc3339_ms(self.zero_unix_ns.saturating_add((t * 1e9).round() as i64))
    }

    /// Seconds from the start.
    fn t(&self, at: Instant) -> f64 {
        (at.as_ns() as f64 - self.zero.as_ns() as f64) / 1e9
    }

    /// The kinds of the sources that say what they are.
    fn kinds(&self) -> HashMap<&str, &str> {
        let mut kinds = HashMap::new();
        for record in self.of_kind(RecordKind::Source) {
            if let Some(Datum::Text(kind)) = record.fields.get("kind") {
                kinds.insert(record.source.as_str(), kind.as_str());
            }
        }
        kinds
    }

    fn of_kind(&self, kind: RecordKind) -> impl Iterator<Item = &Record> {
        self.all.records.iter().filter(move |record| record.kind == kind)
    }

    /// A signal's points in the part that is looked at. A value that holds until the next holds at its beginning, too.
    fn clipped(&self, signal: &Signal) -> lanes::Points {
        let points = signal.points.iter().map(|(at, value)| (self.t(*at), *value));
        let (mut inside, mut held) = (Vec::new(), None);
        for (t, value) in points.filter(|point| point.1.is_finite()) {
            if t < self.part_s.start {
                held = Some(value);
            } else if t <= self.part_s.end {
                inside.push((t, value));
            }
        }
        let begins_later = inside.first().is_none_or(|first: &(f64, f64)| first.0 > self.part_s.start);
        if let Some(value) = held.filter(|_| signal.step.is_zero() && begins_later) {
            inside.insert(0, (self.part_s.start, value));
        }
        inside
    }

    /// Gaps of a source in the part of the run that is shown.
    fn gaps_of(&self, source: &str) -> Vec<LaneGap> {
        let inside = |gap: &Gap| {
            let from = self.t(gap.from).max(self.part_s.start);
            let to = self.t(gap.to).min(self.part_s.end);
            (from < to).then(|| (from, to, gap.reason.clone()))
        };
        let mut gaps: Vec<(f64, f64, String)> =
            self.all.gaps.iter().filter(|gap| gap.source == source).filter_map(inside).collect();
        gaps.sort_by(|a, b| a.0.total_cmp(&b.0));
        if let Some(last) =
            gaps.get(GAPS_MAX..).and_then(|rest| rest.iter().map(|gap| gap.1).reduce(f64::max))
        {
            gaps.truncate(GAPS_MAX);
            gaps[GAPS_MAX - 1].1 = last;
        }
        let gap = |(from, to, reason)| LaneGap { from: units::millis(from), to: units::millis(to), reason };
        gaps.into_iter().map(gap).collect()
    }

    fn sources(&self) -> Vec<EvidenceSource> {
        let names = self.all.signals.iter().map(|signal| &signal.source);
        let names = names.chain(self.all.records.iter().map(|record| &record.source));
        let names: std::collections::BTreeSet<&String> =
            names.chain(self.all.gaps.iter().map(|gap| &gap.source)).collect();
        names.into_iter().map(|name| self.source(name)).collect()
    }

    fn source(&self, name: &str) -> EvidenceSource {
        let own = self.all.signals.iter().filter(|signal| signal.source == name);
        let (mut points, mut first, mut last) = (0, f64::INFINITY, f64::NEG_INFINITY);
        for signal in own {
            let inside = self.clipped(signal);
            points += inside.len() as u64;
            first = inside.first().map_or(first, |point| point.0.min(first));
            last = inside.last().map_or(last, |point| point.0.max(last));
        }
        // Of values reported more than once, the last holds.
        let mut known = std::collections::BTreeMap::new();
        self.of_kind(RecordKind::Source)
            .filter(|record| record.source == name)
            .for_each(|record| known.extend(record.fields.iter().map(|(name, datum)| (name.clone(), datum))));
        let mut text = |name: &str| known.remove(name).map(|datum| fact_text(name, datum));
        let (kind, address, trouble) = (text("kind"), text("address"), text("trouble"));
        let mut count = |name: &str| match known.remove(name) {
            Some(Datum::Number(count)) => Some(*count as u64),
            _ => None,
        };
        let (answers, failures) = (count("answers"), count("failures"));
        let gaps = self.gaps_of(name);
        let tells_otherwise =
            self.all.records.iter().any(|record| record.source == name && record.kind != RecordKind::Source);
        let health = match points {
            // Who receives traces has no points, and says of itself what came.
            0 if !tells_otherwise && known.is_empty() => "silent",
            _ if gaps.is_empty() && trouble.is_none() => "ok",
            _ => "gaps",
        };
        let fact = |(name, datum): (String, &Datum)| Fact { value: fact_text(&name, datum), name };
        EvidenceSource {
            name: name.to_owned(),
            kind: kind.unwrap_or_default(),
            address: address.unwrap_or_default(),
            health,
            answers,
            failures,
            trouble,
            points,
            first: (points > 0).then(|| units::millis(first)),
            last: (points > 0).then(|| units::millis(last)),
            gaps,
            facts: known.into_iter().map(fact).collect(),
        }
    }

    fn happenings(&self) -> (Vec<Happening>, u64) {
        let inside = |record: &&Record| {
            let t = self.t(record.at);
            self.part_s.start <= t && t <= self.part_s.end
        };
        let mut all: Vec<&Record> = self.of_kind(RecordKind::Happening).filter(inside).collect();
        all.sort_by_key(|record| record.at);
        let happening = |record: &&Record| Happening {
            t: units::millis(self.t(record.at)),
            source: record.source.clone(),
            subject: record.subject.clone(),
            text: told_text(record),
        };
        let shown = all.iter().take(HAPPENINGS_MAX).map(happening).collect();
        (shown, all.len().saturating_sub(HAPPENINGS_MAX) as u64)
    }

    fn subject(&self, record: &Record) -> Subject {
        Subject {
            t: units::millis(self.t(record.at)),
            source: record.source.clone(),
            subject: record.subject.clone(),
            facts: facts(record),
        }
    }
}

/// Fields that are the text of what happened.
const TEXTS: [&str; 4] = ["text", "what", "message", "reason"];

/// Events in the words of their source.
fn told_text(record: &Record) -> String {
    let text = |name: &&str| match record.fields.get(*name) {
        Some(Datum::Text(text)) => Some(text.clone()),
        _ => None,
    };
    let texts = TEXTS.iter().filter_map(text);
    let rest = record.fields.iter().filter(|(name, _)| !TEXTS.contains(&name.as_str()));
    let rest = rest.map(|(name, datum)| format!("{name} {}", fact_text(name, datum)));
    texts.chain(rest).collect::<Vec<_>>().join(", ")
}

fn facts(record: &Record) -> Vec<Fact> {
    let fact = |(name, datum): (&String, &Datum)| Fact { name: name.clone(), value: fact_text(name, datum) };
    record.fields.iter().map(fact).collect()
}

/// Facts as they are shown: the end of a name is its unit.
fn fact_text(name: &str, datum: &Datum) -> String {
    let number = match datum {
        Datum::Text(text) => return text.clone(),
        Datum::Number(number) => *number,
    };
    match name.rsplit('_').next() {
        Some("ms") => units::text(number, "time"),
        Some("s") => units::text(number, "seconds"),
        Some("bytes") => units::text(number, "data"),
        Some("share") => units::text(number, "share"),
        _ => number::plain(number),
    }
}

/// A number that a record has, by the first of these names that it has.
fn number_of(record: &Record, names: &[&str]) -> Option<f64> {
    names.iter().find_map(|name| match record.fields.get(*name) {
        Some(Datum::Number(number)) if number.is_finite() => Some(*number),
        _ => None,
    })
}

/// Seconds of an answer.
fn second(of: Option<f64>) -> Option<Number> {
    of.map(units::millis)
}
