//! The timeline in sentences, read from the lanes, so that none states more than is drawn.

use std::collections::BTreeMap;

use api::page::{Happening, StoryLine};

use super::lanes::{Points, Raw, Track, peak};
use super::rows::Watch;
use super::{EvidenceView, second, units};
use crate::Lang;
use crate::escape::short;

/// Sentences of an answer.
const LINES_MAX: usize = 60;

/// Changes of one lane listed at most.
const CHANGES_MAX: usize = 12;

/// A backlog below so many messages is none.
const BACKLOG_MIN: f64 = 10.0;

/// Shorter times above the share are left out, seconds.
const PRESSED_S_MIN: f64 = 5.0;

/// A change and an event within so many seconds are the same, and listed once.
const SAME_S: f64 = 10.0;

/// The sentences, in order of time.
pub(super) fn compose(
    view: &EvidenceView,
    lanes: &[Raw],
    happenings: &[Happening],
    lang: Lang,
) -> Vec<StoryLine> {
    let mut lines: Vec<StoryLine> =
        lanes.iter().flat_map(|lane| watched(view, lane, happenings, lang)).collect();
    lines.extend(happenings.iter().map(happened));
    lines.extend(silences(view, lang));
    lines.sort_by(|a, b| a.t.0.total_cmp(&b.t.0));
    lines.truncate(LINES_MAX);
    lines
}

fn watched(view: &EvidenceView, lane: &Raw, happenings: &[Happening], lang: Lang) -> Vec<StoryLine> {
    match lane.row.watch {
        Watch::Nothing => Vec::new(),
        Watch::Steps => changes(lane, happenings, lang),
        Watch::Share(share) => pressed(lane, share, lang).into_iter().collect(),
        Watch::Backlog => backlog(view, lane, lang),
        Watch::AboveZero => above_zero(lane, lang).into_iter().collect(),
    }
}

/// Each change of a value that holds until the next.
fn changes(lane: &Raw, happenings: &[Happening], lang: Lang) -> Vec<StoryLine> {
    let scale = units::scale(&lane.unit);
    let is_told = |track: &Track, t: f64| {
        happenings
            .iter()
            .any(|it| (it.t.0 - t).abs() <= SAME_S && track.labels.values().any(|value| *value == it.subject))
    };
    // Series that change alike at once share a sentence.
    let mut alike: BTreeMap<(u64, String, String, bool), Vec<String>> = BTreeMap::new();
    for track in &lane.tracks {
        let changed = track.points.windows(2).filter(|pair| pair[0].1 != pair[1].1);
        for pair in changed.filter(|pair| !is_told(track, pair[1].0)) {
            let (before, after) = (units::text(pair[0].1, scale), units::text(pair[1].1, scale));
            let place = ((pair[1].0 * 1e3) as u64, before, after, track.limit == Some(pair[1].1));
            alike.entry(place).or_default().push(track.name());
        }
    }
    let sentence = |((ms, before, after, is_limit), names): ((u64, String, String, bool), Vec<String>)| {
        let series = names.join(", ");
        let text = match is_limit {
            true => lang.evidence_story_changed_max(&lane.title, series, before, after),
            false => lang.evidence_story_changed(&lane.title, series, before, after),
        };
        line(lane, ms as f64 / 1e3, None, text)
    };
    alike.into_iter().take(CHANGES_MAX).map(sentence).collect()
}

/// The longest time for which the mean share of the limits was above one.
fn pressed(lane: &Raw, share: f64, lang: Lang) -> Option<StoryLine> {
    let (shares, count) = lane.shares();
    let (from, to) = longest_above(&shares, share)?;
    if to - from < PRESSED_S_MIN {
        return None;
    }
    let (percent, length) = (units::text(share, "share"), units::text((to - from).round(), "seconds"));
    let text = match count {
        1 => lang.evidence_story_pressed_one(&lane.title, percent, length),
        _ => lang.evidence_story_pressed(&lane.title, count, percent, length),
    };
    Some(line(lane, from, Some(to), text))
}

/// The longest stretch of points that are at least so high, as its first and last.
fn longest_above(points: &Points, level: f64) -> Option<(f64, f64)> {
    let stretches = points.chunk_by(|a, b| (a.1 >= level) == (b.1 >= level));
    let above = stretches.filter(|stretch| stretch.iter().all(|point| point.1 >= level));
    let ends = above.filter_map(|stretch| Some((stretch.first()?.0, stretch.last()?.0)));
    ends.max_by(|a, b| (a.1 - a.0).total_cmp(&(b.1 - b.0)))
}

/// In which order queues peaked, and what was left in them.
fn backlog(view: &EvidenceView, lane: &Raw, lang: Lang) -> Vec<StoryLine> {
    let peaks = lane.tracks.iter().map(|track| (track, peak(&track.points)));
    let mut peaks: Vec<(&Track, (f64, f64))> = peaks.filter(|(_, peak)| peak.1 >= BACKLOG_MIN).collect();
    peaks.sort_by(|a, b| a.1.0.total_cmp(&b.1.0));
    let mut lines = Vec::new();
    if let (Some(first), Some(last)) = (peaks.first(), peaks.last()) {
        let one = |(track, (t, high)): &(&Track, (f64, f64))| {
            lang.evidence_story_peak(track.name(), units::text(*high, "default"), units::clock(*t))
        };
        let all = peaks.iter().map(one).collect::<Vec<_>>().join(", ");
        let text = match peaks.len() {
            1 => lang.evidence_story_one_peak(&lane.title, all),
            _ => lang.evidence_story_peaks(&lane.title, all),
        };
        let to = (peaks.len() > 1).then_some(last.1.0);
        lines.push(line(lane, first.1.0, to, text));
    }
    let left = |track: &&Track| track.points.last().is_some_and(|last| last.1 >= BACKLOG_MIN);
    let left: Vec<String> = lane
        .tracks
        .iter()
        .filter(left)
        .filter_map(|track| {
            Some(format!("{} {}", track.name(), units::text(track.points.last()?.1, "default")))
        })
        .collect();
    if !left.is_empty() {
        lines.push(line(lane, view.part_s.end, None, lang.evidence_story_left(left.join(", "))));
    }
    lines
}

/// That something was seen that should not be.
fn above_zero(lane: &Raw, lang: Lang) -> Option<StoryLine> {
    let first = |track: &Track| track.points.iter().find(|point| point.1 > 0.0).map(|point| point.0);
    let begin = lane.tracks.iter().filter_map(first).min_by(f64::total_cmp)?;
    let highest = lane.tracks.iter().max_by(|a, b| peak(&a.points).1.total_cmp(&peak(&b.points).1))?;
    let (at, high) = peak(&highest.points);
    let high = units::text(high, units::scale(&lane.unit));
    let who = if lane.tracks.len() > 1 { format!(" ({})", highest.name()) } else { String::new() };
    let text = lang.evidence_story_seen(&lane.title, high, who, units::clock(at));
    Some(line(lane, begin, None, text))
}

fn happened(happening: &Happening) -> StoryLine {
    let text = match happening.subject.is_empty() {
        true => short(&happening.text),
        false => format!("{}: {}", short(&happening.subject), short(&happening.text)),
    };
    StoryLine { t: happening.t, to: None, clock: units::clock(happening.t.0), text, lane: None }
}

/// Gaps in the data of sources.
fn silences(view: &EvidenceView, lang: Lang) -> Vec<StoryLine> {
    let mut sources: Vec<&String> = view.all.gaps.iter().map(|gap| &gap.source).collect();
    sources.sort_unstable();
    sources.dedup();
    let silence = |(source, gap): (&String, api::page::LaneGap)| {
        let length = units::text((gap.to.0 - gap.from.0).max(0.0), "seconds");
        let text = lang.evidence_story_gap(short(source), length, short(&gap.reason));
        moment(gap.from.0, Some(gap.to.0), text, None)
    };
    let gaps =
        sources.into_iter().flat_map(|source| view.gaps_of(source).into_iter().map(move |gap| (source, gap)));
    gaps.take(LINES_MAX).map(silence).collect()
}

fn line(lane: &Raw, t: f64, to: Option<f64>, text: String) -> StoryLine {
    moment(t, to, text, Some(lane.key.clone()))
}

fn moment(t: f64, to: Option<f64>, text: String, lane: Option<String>) -> StoryLine {
    let clock = match to {
        Some(to) => format!("{}–{}", units::clock(t), units::clock(to)),
        None => units::clock(t),
    };
    StoryLine { t: units::millis(t), to: second(to), clock, text, lane }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_stretch_counts() {
        let points = [0.9, 0.9, 0.2, 0.9, 0.95, 0.9, 0.1].into_iter().enumerate();
        let points: Points = points.map(|(t, value)| (t as f64, value)).collect();
        assert_eq!(longest_above(&points, 0.85), Some((3.0, 5.0)));
        assert_eq!(longest_above(&points, 0.99), None);
    }
}
