//! Signals as lanes: those of one row, one source and one unit above each other, with their limits and their gaps.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use api::Number;
use api::page::{Fact, Lane, LaneGap, LaneLimit, LaneSeries, Peak};
use model::Signal;

use super::rows::{Draws, LaneRow, OTHER, ROWS, place_of};
use super::{EvidenceView, units};
use crate::Lang;
use crate::escape::short;

/// Lanes of an answer.
pub(super) const LANES_MAX: usize = 80;

/// Series of a lane at most: more lines are unreadable.
const SERIES_MAX: usize = 12;

/// Queries of a lane.
const QUERIES_MAX: usize = 20;

/// Limits that are drawn in a lane.
const LIMITS_MAX: usize = 3;

/// Series of a lane that are looked at at all, those with the highest peaks.
const TRACKS_MAX: usize = 500;

/// Limits of one name that are looked through for that of a whole, where a part has none of its own.
const SHARED_LIMITS_MAX: usize = 100;

/// Points of all lanes together, in columns as long as an answer's.
const COLUMNS_MAX: usize = 100;

/// Points of a series that are always drawn.
const POINTS_MIN: usize = 60;

/// A line breaks where data is missing for so many steps.
const STEPS_UNSAID: f64 = 3.0;

/// And for no less than so many seconds: shorter gaps are invisible.
const UNSAID_S_MIN: f64 = 1.0;

/// Seconds and values.
pub(super) type Points = Vec<(f64, f64)>;

/// A lane with all points of the part that is looked at.
#[derive(Debug)]
pub(super) struct Raw {
    pub(super) row: &'static LaneRow,
    pub(super) key: String,
    pub(super) title: String,
    pub(super) source: String,
    pub(super) unit: String,
    pub(super) step_s: f64,
    pub(super) tracks: Vec<Track>,
    pub(super) gaps: Vec<LaneGap>,
    signals: BTreeSet<String>,
    queries: BTreeSet<String>,
    /// Series that were not looked at.
    left_out: usize,
}

/// A series of it; never empty.
#[derive(Debug)]
pub(super) struct Track {
    pub(super) label: String,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) points: Points,
    pub(super) limit: Option<f64>,
    /// Whether the limit is that of all series together: connections in each state, of all that there may be.
    shares_limit: bool,
}

/// A signal's points in the selected time range, and its limit.
struct LaneSignal<'a> {
    signal: &'a Signal,
    points: Points,
    limit: Option<f64>,
    shares_limit: bool,
}

/// Where a signal is drawn: the row (others come last), the source, the unit, and the name of those without a row.
type Place<'a> = (usize, &'a str, &'a str, &'a str);

/// Returns all lanes, in the order of their rows.
pub(super) fn collect(view: &EvidenceView, lang: Lang) -> Vec<Raw> {
    let mut lanes: BTreeMap<Place<'_>, Vec<LaneSignal<'_>>> = BTreeMap::new();
    let kinds = view.kinds();
    for part in limited(view) {
        let signal = part.signal;
        let source = signal.source.as_str();
        let row = place_of(kinds.get(source).copied().unwrap_or(source), &signal.name);
        let name = if row.is_some() { "" } else { signal.name.as_str() };
        let place = (row.unwrap_or(ROWS.len()), signal.source.as_str(), signal.unit.as_str(), name);
        lanes.entry(place).or_default().push(part);
    }
    lanes.into_iter().map(|(place, parts)| lane(view, lang, place, parts)).collect()
}

/// The signals that are no limits of others, each with its own.
fn limited(view: &EvidenceView) -> Vec<LaneSignal<'_>> {
    let mut exact: HashMap<(&str, &str, &BTreeMap<String, String>), usize> = HashMap::new();
    let mut named: HashMap<(&str, &str), Vec<usize>> = HashMap::new();
    for (place, signal) in view.all.signals.iter().enumerate() {
        exact.insert((&signal.source, signal.name.as_str(), &signal.labels), place);
        named.entry((&signal.source, signal.name.as_str())).or_default().push(place);
    }
    let mut limits: BTreeSet<usize> = BTreeSet::new();
    let mut limit_of = vec![None; view.all.signals.len()];
    for (place, signal) in view.all.signals.iter().enumerate() {
        let source = signal.source.as_str();
        for name in signal.name.limit_names() {
            let Some(known) = named.get(&(source, name.as_str())) else { continue };
            // The limit of this very thing, or of something that it is a part of.
            let is_of = |other: &&usize| {
                let labels = &view.all.signals[**other].labels;
                labels.iter().all(|(label, value)| signal.labels.get(label) == Some(value))
            };
            let part_of = || known.iter().take(SHARED_LIMITS_MAX).filter(is_of);
            let closest = || part_of().max_by_key(|other| view.all.signals[**other].labels.len()).copied();
            let own = exact.get(&(source, name.as_str(), &signal.labels)).copied();
            limit_of[place] = limit_of[place].or(own).or_else(closest);
            if limit_of[place].is_some() {
                limits.extend(known);
                break;
            }
        }
    }
    // Servers write zero for no limit.
    let last = |limit: usize| view.clipped(&view.all.signals[limit]).last().map(|point| point.1);
    let mut parts = Vec::new();
    for (place, signal) in view.all.signals.iter().enumerate() {
        let points = view.clipped(signal);
        if !limits.contains(&place) && !points.is_empty() {
            let limit = limit_of[place].and_then(last).filter(|limit| *limit > 0.0);
            let labels = limit_of[place].map_or(0, |limit: usize| view.all.signals[limit].labels.len());
            parts.push(LaneSignal { signal, points, limit, shares_limit: labels < signal.labels.len() });
        }
    }
    parts
}

fn lane(view: &EvidenceView, lang: Lang, place: Place<'_>, mut parts: Vec<LaneSignal<'_>>) -> Raw {
    let (number, source, unit, name) = place;
    let row = ROWS.get(number).unwrap_or(&OTHER);
    let step_s = parts.iter().map(|part| part.signal.step.as_secs_f64()).fold(0.0, f64::max);
    let key = match name {
        "" => format!("{}.{source}", row.key),
        name => format!("{}.{source}.{name}", row.key),
    };
    let signals = parts.iter().map(|part| part.signal.name.to_string()).collect();
    let queries =
        parts.iter().map(|part| part.signal.query.clone()).filter(|query| !query.is_empty()).collect();
    let left_out = parts.len().saturating_sub(TRACKS_MAX);
    if left_out > 0 {
        parts.sort_by(|a, b| peak(&b.points).1.total_cmp(&peak(&a.points).1));
        parts.truncate(TRACKS_MAX);
    }
    let tracks = match row.draws {
        Draws::Each => each(parts),
        Draws::SumBy(label) => summed(parts, label, lang),
    };
    let mut lane = Raw {
        row,
        // Two units of one row are two lanes.
        key: if unit.is_empty() { key } else { format!("{key}.{unit}") },
        title: row.title.map_or_else(|| name.to_owned(), |title| title(lang).to_owned()),
        source: source.to_owned(),
        unit: unit.to_owned(),
        step_s,
        tracks,
        gaps: view.gaps_of(source),
        signals,
        queries,
        left_out,
    };
    lane.gaps.extend(lane.unsaid(lang));
    lane.gaps.sort_by(|a, b| a.from.0.total_cmp(&b.from.0));
    lane
}

fn each(parts: Vec<LaneSignal<'_>>) -> Vec<Track> {
    let labels = labels(&parts.iter().map(|part| part.signal).collect::<Vec<_>>());
    let track = |(part, label): (LaneSignal<'_>, String)| Track {
        label,
        labels: part.signal.labels.clone(),
        points: part.points,
        limit: part.limit,
        shares_limit: part.shares_limit,
    };
    parts.into_iter().zip(labels).map(track).collect()
}

/// The distinguishing parts of signals: their names where these differ, and the labels that do.
fn labels(signals: &[&Signal]) -> Vec<String> {
    let Some(first) = signals.first() else { return Vec::new() };
    let names: BTreeSet<&String> = signals.iter().flat_map(|signal| signal.labels.keys()).collect();
    let differs =
        |name: &&&String| signals.iter().any(|other| other.labels.get(**name) != first.labels.get(**name));
    let telling: Vec<&&String> = names.iter().filter(|name| signals.len() < 2 || differs(name)).collect();
    let has_names = signals.iter().any(|signal| signal.name != first.name);
    let label = |signal: &&Signal| {
        let values = telling.iter().filter_map(|name| signal.labels.get(**name)).map(String::as_str);
        let name = has_names.then_some(signal.name.as_str());
        let label =
            name.into_iter().chain(values).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
        if label.is_empty() { signal.name.to_string() } else { label }
    };
    signals.iter().map(label).collect()
}

/// The signals summed by a label, at the instants at which any of them has a value.
fn summed(parts: Vec<LaneSignal<'_>>, label: &str, lang: Lang) -> Vec<Track> {
    let mut instants: Vec<f64> =
        parts.iter().flat_map(|part| part.points.iter().map(|point| point.0)).collect();
    instants.sort_by(f64::total_cmp);
    instants.dedup();
    let mut sums: BTreeMap<String, (HashMap<u64, f64>, Option<f64>)> = BTreeMap::new();
    for part in parts {
        let value = part.signal.labels.get(label).filter(|value| !value.is_empty());
        let (sum, limit) =
            sums.entry(value.map_or(lang.evidence_running(), String::as_str).to_owned()).or_default();
        part.points.iter().for_each(|(t, value)| *sum.entry(t.to_bits()).or_default() += value);
        *limit = part.limit.or(*limit);
    }
    let track = |(value, (sum, limit)): (String, (HashMap<u64, f64>, Option<f64>))| Track {
        points: instants.iter().map(|t| (*t, sum.get(&t.to_bits()).copied().unwrap_or(0.0))).collect(),
        labels: [(label.to_owned(), value.clone())].into(),
        label: value,
        limit,
        shares_limit: true,
    };
    sums.into_iter().map(track).collect()
}

impl Raw {
    /// Returns the longest interval without a point that is not a gap, seconds; `None` for signals that report events.
    fn reach_s(&self) -> Option<f64> {
        (self.step_s > 0.0).then(|| (self.step_s * STEPS_UNSAID).max(UNSAID_S_MIN))
    }

    /// Gaps without a reason from their source.
    fn unsaid(&self, lang: Lang) -> Vec<LaneGap> {
        let Some(reach_s) = self.reach_s() else { return Vec::new() };
        let mut instants: Vec<f64> =
            self.tracks.iter().flat_map(|track| track.points.iter().map(|point| point.0)).collect();
        instants.sort_by(f64::total_cmp);
        let is_told = |from: f64, to: f64| self.gaps.iter().any(|gap| gap.from.0 < to && from < gap.to.0);
        let silences = instants.windows(2).filter(|pair| pair[1] - pair[0] > reach_s);
        let silences = silences.filter(|pair| !is_told(pair[0], pair[1]));
        let gap = |pair: &[f64]| LaneGap {
            from: units::millis(pair[0] + self.step_s),
            to: units::millis(pair[1]),
            reason: lang.evidence_gap_unexplained().to_owned(),
        };
        silences.map(gap).collect()
    }

    /// The lane as it is drawn: about so many points of each series at most.
    pub(super) fn drawn(&self, lang: Lang, points_max: usize) -> Lane {
        let scale = units::scale(&self.unit);
        let mut order: Vec<&Track> = self.tracks.iter().collect();
        order.sort_by(|a, b| peak(&b.points).1.total_cmp(&peak(&a.points).1));
        let beyond = order.len().saturating_sub(SERIES_MAX) + self.left_out;
        order.truncate(SERIES_MAX);
        order.sort_by(|a, b| a.label.cmp(&b.label));
        Lane {
            key: self.key.clone(),
            group: self.row.group,
            title: self.title.clone(),
            signals: self.signals.iter().cloned().collect(),
            is_summed: self.row.draws != Draws::Each,
            scale,
            unit: self.unit.clone(),
            is_stepped: self.row.is_stepped() || self.step_s == 0.0,
            names_peaks: self.row.watch == super::rows::Watch::Backlog,
            source: self.source.clone(),
            step_ms: Number((self.step_s * 1e3).round()),
            queries: self.queries.iter().take(QUERIES_MAX).cloned().collect(),
            queries_beyond: self.queries.len().saturating_sub(QUERIES_MAX) as u64,
            series: order.iter().map(|track| self.series(track, scale, points_max)).collect(),
            series_beyond: beyond as u64,
            limits: self.limits(lang, scale),
            gaps: self.gaps.clone(),
        }
    }

    fn series(&self, track: &Track, scale: &'static str, points_max: usize) -> LaneSeries {
        let points = thinned(&self.broken(&track.points), points_max);
        let (at, high) = peak(&track.points);
        let fact = |(name, value): (&String, &String)| Fact { name: name.clone(), value: value.clone() };
        let end = |point: Option<&(f64, f64)>| units::optional(point.map(|point| point.1), scale);
        LaneSeries {
            label: track.label.clone(),
            labels: track.labels.iter().map(fact).collect(),
            t: points.iter().map(|point| units::millis(point.0)).collect(),
            values: points.iter().map(|point| point.1.map(Number)).collect(),
            peak: Peak { t: units::millis(at), value: units::value(high, scale) },
            start: end(track.points.first()),
            end: end(track.points.last()),
            limit: track.limit.map(|limit| units::value(limit, scale)),
        }
    }

    /// The points, with a hole wherever nothing is known.
    fn broken(&self, points: &[(f64, f64)]) -> Vec<(f64, Option<f64>)> {
        let reach_s = self.reach_s().unwrap_or(f64::INFINITY);
        let mut broken = Vec::with_capacity(points.len());
        for (place, (t, value)) in points.iter().enumerate() {
            if let Some((before, _)) = place.checked_sub(1).and_then(|place| points.get(place)) {
                let gap = self.gaps.iter().find(|gap| gap.from.0 >= *before && gap.from.0 < *t);
                match gap {
                    Some(gap) => broken.push((gap.from.0.max(before + 1e-3), None)),
                    None if t - before > reach_s => broken.push((before + self.step_s, None)),
                    None => {}
                }
            }
            broken.push((*t, Some(*value)));
        }
        broken
    }

    fn limits(&self, lang: Lang, scale: &'static str) -> Vec<LaneLimit> {
        let mut limits: Vec<f64> = self.tracks.iter().filter_map(|track| track.limit).collect();
        limits.sort_by(|a, b| b.total_cmp(a));
        limits.dedup();
        let line = |limit: &f64| {
            let text = lang.evidence_limit(units::text(*limit, scale));
            LaneLimit { value: Number(*limit), text }
        };
        limits.iter().take(LIMITS_MAX).map(line).collect()
    }

    /// The share of its limit that a series uses, on average of so many; or that all of them use together.
    pub(super) fn shares(&self) -> (Points, usize) {
        // Replicas are polled one after the other: values within a step belong together.
        let width_s = self.step_s.max(UNSAID_S_MIN);
        let mut slots: BTreeMap<i64, Vec<f64>> = BTreeMap::new();
        let limited = || self.tracks.iter().filter(|track| track.limit.is_some());
        for track in limited() {
            let slot_of = |point: &(f64, f64)| (point.0 / width_s).floor() as i64;
            for view in track.points.chunk_by(|a, b| slot_of(a) == slot_of(b)) {
                let mean = view.iter().map(|point| point.1).sum::<f64>() / view.len() as f64;
                slots.entry(slot_of(&view[0])).or_default().push(mean / track.limit.unwrap_or(f64::INFINITY));
            }
        }
        let is_shared = limited().any(|track| track.shares_limit);
        let share =
            |shares: &[f64]| shares.iter().sum::<f64>() / if is_shared { 1.0 } else { shares.len() as f64 };
        let points =
            slots.into_iter().map(|(slot, shares)| (slot as f64 * width_s, share(&shares))).collect();
        (points, if is_shared { 1 } else { limited().count() })
    }
}

impl Track {
    /// Its name for a sentence.
    pub(super) fn name(&self) -> String {
        short(&self.label)
    }
}

/// The first time that a series was as high as ever.
pub(super) fn peak(points: &[(f64, f64)]) -> (f64, f64) {
    let higher = |a: (f64, f64), b: (f64, f64)| if b.1 > a.1 { b } else { a };
    points.iter().copied().reduce(higher).unwrap_or((0.0, f64::NEG_INFINITY))
}

/// About so many points: of neighbours the smallest and the largest, at their own times, and holes stay holes.
fn thinned(points: &[(f64, Option<f64>)], points_max: usize) -> Vec<(f64, Option<f64>)> {
    if points.len() <= points_max {
        return points.to_vec();
    }
    let each = points.len().div_ceil((points_max / 2).max(1));
    let mut thin = Vec::with_capacity(points_max + 2);
    for some in points.chunks(each) {
        let values = || some.iter().enumerate().filter_map(|(place, point)| Some((place, point.1?)));
        let lowest = values().min_by(|a, b| a.1.total_cmp(&b.1));
        let highest = values().max_by(|a, b| a.1.total_cmp(&b.1));
        let hole = some.iter().position(|point| point.1.is_none());
        let mut places: Vec<usize> =
            [lowest.map(|low| low.0), highest.map(|high| high.0), hole].into_iter().flatten().collect();
        places.sort_unstable();
        places.dedup();
        thin.extend(places.into_iter().map(|place| some[place]));
    }
    thin
}

/// How many points each series of so many may have.
pub(super) fn points_of_each(lanes: &[Raw], points_max: usize) -> usize {
    let series: usize = lanes.iter().map(|lane| lane.tracks.len().min(SERIES_MAX)).sum();
    (points_max * COLUMNS_MAX / series.max(1)).clamp(POINTS_MIN.min(points_max), points_max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_and_the_largest_of_neighbours_stay() {
        let points: Vec<_> = (0..100).map(|t| (f64::from(t), Some(f64::from(t % 10)))).collect();
        let thin = thinned(&points, 20);
        assert_eq!(thin.len(), 20);
        assert!(thin.chunks(2).all(|pair| (pair[0].1, pair[1].1) == (Some(0.0), Some(9.0))), "{thin:?}");
        assert_eq!(thinned(&points, 100), points);
        let holed: Vec<_> = points.iter().map(|(t, value)| (*t, value.filter(|_| *t != 55.0))).collect();
        assert!(thinned(&holed, 20).iter().any(|point| point.1.is_none()), "a hole stays a hole");
    }

    #[test]
    fn a_peak_is_the_first_of_its_height() {
        assert_eq!(peak(&[(1.0, 2.0), (2.0, 5.0), (3.0, 5.0)]), (2.0, 5.0));
    }
}
