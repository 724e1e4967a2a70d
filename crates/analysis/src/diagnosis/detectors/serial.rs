//! Something that is done one at a time: a counter, a key, a section behind a lock. Known by the utilisation law: so many per second
//! times the time that one of them takes when nobody is before it is one, and most take much longer than that. Where somebody is
//! always before it, they end one after the other as regularly as a clock.
//!
//! Not: statements of a database, whose waits the database tells itself.

use model::SpanKind;
use model::diagnosis::{CostClass, Hypothesis, Role};
use model::{Strength, Unit};

use super::super::paths::{Step, StepKey};
use super::super::view::{Depth, Says, View, draft, exact, percent, rate, time};
use super::says;

const NAME: &str = "one-at-a-time";
const LABEL: &str = "hot key";

/// Fewer show no rule.
const SPANS_MIN: u64 = 50;

/// One at a time is busy for so much of the time, at least and at most: what is measured is never quite what is.
const BUSY_MIN: f64 = 0.75;
const BUSY_MAX: f64 = 1.2;

/// Regular ends: times between them vary by so much of their mean (those of chance by all of it), and are so many times shorter
/// than what ends.
const REGULAR_MAX: f64 = 0.4;
const QUEUED_MIN: f64 = 3.0;

/// The mean is so many times the shortest.
const LONGER_MIN: f64 = 2.0;

/// The share of the time from which on it is told.
const SHARE_MIN: f64 = 0.1;
const LIMITS_MIN: f64 = 0.2;

/// What is done one at a time.
pub(super) fn detect(view: &View<'_>) -> Vec<Says> {
    let found = view.paths.steps.iter().filter_map(|(key, step)| of(view, key, step));
    let most = found.max_by(|a, b| a.explains.unwrap_or(0.0).total_cmp(&b.explains.unwrap_or(0.0)));
    most.map(|hypothesis| Says::Found(Box::new(hypothesis), Depth::Cause)).into_iter().collect()
}

fn of(view: &View<'_>, key: &StepKey, step: &Step) -> Option<Hypothesis> {
    let is_leaf = step.parents == 0 && key.kind == SpanKind::Internal && !step.is_database;
    if !is_leaf || step.spans < SPANS_MIN || says(&key.operation, &["wait"]) {
        return None;
    }
    let length_s = view.level.length_s();
    let per_s = per_s(view, key).unwrap_or(step.spans as f64 * view.paths.weight() / length_s.max(1.0));
    let alone_s = step.quantile_s(0.05);
    let share = view.explained_by(key, step);
    let is_busy = (BUSY_MIN..=BUSY_MAX).contains(&(per_s * alone_s)) && step.mean_s() >= alone_s * LONGER_MIN;
    // With somebody always before it, so many per second are as many as go through.
    let queued_s = || regular_s(view, step).filter(|gap_s| (BUSY_MIN..=BUSY_MAX).contains(&(per_s * gap_s)));
    let turn_s = if is_busy { Some(alone_s) } else { queued_s() };
    let one_s = turn_s.filter(|_| share >= SHARE_MIN)?;
    let busy = per_s * one_s;
    Some(Hypothesis {
        title: format!("{} is done one at a time", key.operation),
        summary: format!(
            "{} of {} each are {} of one, and the mean takes {}",
            rate(per_s),
            time(one_s),
            percent(busy),
            time(step.mean_s())
        ),
        claim: format!(
            "no more than {} of {:?} are done, since each has to wait for the one before it",
            rate(1.0 / one_s),
            key.operation
        ),
        role: if share >= LIMITS_MIN { Role::Limits } else { Role::Contributes },
        strength: Strength::Arithmetic,
        explains: Some(share),
        numbers: vec![
            exact("done", per_s, Unit::PerSecond),
            exact("one alone", one_s, Unit::Seconds),
            exact("mean", step.mean_s(), Unit::Seconds),
            exact("busy", busy * 100.0, Unit::Percent).noted("rate × one alone: of one at a time"),
            exact("of the time of requests", share * 100.0, Unit::Percent),
        ],
        exemplars: view.exemplars(&step.slowest),
        caveats: vec!["how many keys there are was not told".to_owned()],
        remedy: "spread it: several keys, several counters, or what needs no turn".to_owned(),
        cost: CostClass::Logic,
        prediction: view.without(share * (1.0 - one_s / step.mean_s()), "nobody waits for a turn"),
        ..draft(NAME, LABEL, key.operation.to_string())
    })
}

/// The time between two ends, seconds, where they are regular and far shorter than what ends. A part of the spans tells nothing
/// about the time between them.
fn regular_s(view: &View<'_>, step: &Step) -> Option<f64> {
    if view.paths.weight() > 1.0 {
        return None;
    }
    let end = |(start_ns, length_ns): &(i64, u64)| *start_ns as f64 + *length_ns as f64;
    let mut ends_ns: Vec<f64> = step.times_ns.iter().map(end).collect();
    ends_ns.sort_by(f64::total_cmp);
    let mut gaps_s: Vec<f64> = ends_ns.windows(2).map(|pair| (pair[1] - pair[0]) / 1e9).collect();
    gaps_s.sort_by(f64::total_cmp);
    // Without the tenth at each end: at its begin and end a run is no queue.
    let gaps_s = gaps_s.get(gaps_s.len() / 10..gaps_s.len() * 9 / 10).filter(|gaps| gaps.len() >= 2)?;
    let mean_s = gaps_s.iter().sum::<f64>() / gaps_s.len() as f64;
    let variance = gaps_s.iter().map(|gap_s| (gap_s - mean_s).powi(2)).sum::<f64>() / gaps_s.len() as f64;
    (variance.sqrt() <= mean_s * REGULAR_MAX && step.mean_s() >= mean_s * QUEUED_MIN && mean_s > 0.0)
        .then_some(mean_s)
}

/// How often it is done, of all spans received.
fn per_s(view: &View<'_>, key: &StepKey) -> Option<f64> {
    let loads = view.level.operations.iter().filter(|load| {
        load.service == key.service && load.operation == key.operation && load.kind == key.kind
    });
    let count: u64 = loads.map(|load| load.durations.count()).sum();
    (count > 0).then(|| count as f64 / view.level.length_s().max(1.0))
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{level, request, sampled, span};
    use super::super::testing::check;
    use super::*;

    /// Two hundred in four seconds, of which each takes its turn.
    fn case(one_ms: f64, is_one_key: bool) -> crate::diagnosis::Level {
        let trace = |number: u128| {
            // Ten come together, each 200 ms: the last of them waits for nine.
            let (place, came_ms) = ((number % 10) as f64, (number / 10) as f64 * 200.0);
            let length_ms = one_ms * if is_one_key { 1.0 + place } else { 1.0 };
            let mut spans = request("feed", "POST /likes", length_ms + 1.0, &[]);
            spans.push(span(2, 1, "feed", "count the like", 0.5, length_ms));
            spans.iter_mut().for_each(|span| span.start_ns += ((came_ms + place * 0.1) * 1e6) as i64);
            let mut trace = sampled(0, spans);
            trace.id = number + 1;
            trace
        };
        crate::diagnosis::Level { traces: (0..200).map(trace).collect(), ..level(4, 50, 0.1) }
    }

    #[test]
    fn one_at_a_time_is_busy_all_of_the_time() {
        check(detect, &case(20.0, true), &["hot key: count the like"]);
        check(detect, &case(20.0, false), &[]);
        check(detect, &case(5.0, false), &[]);
    }

    #[test]
    fn where_somebody_is_always_before_it_ends_are_regular() {
        let mut level = case(20.0, true);
        let later = |span: &mut model::Span| span.duration += std::time::Duration::from_millis(300);
        level.traces.iter_mut().for_each(|trace| trace.spans.iter_mut().for_each(later));
        check(detect, &level, &["hot key: count the like"]);
    }
}
