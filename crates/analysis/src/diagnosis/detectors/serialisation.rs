//! Serialised work: a counter, a key, a critical section. The evidence is the utilisation law: rate times service time without
//! queueing is 1, and most executions take much longer. If the queue is never empty, no execution is free of queueing; but then no
//! two ends are closer to each other than one service time, unlike ends of independent executions.
//!
//! Not: statements of a database, which reports their waits itself.

use model::SpanKind;
use model::diagnosis::{Caveat, Change, Claim, CostClass, FigureName, Hypothesis, Note, Remedy, Role};
use model::{Strength, Unit};

use super::super::case_view::View;
use super::super::concurrency;
use super::super::observation::{Depth, Observation, draft, exact};
use super::super::paths::{Step, StepKey};
use super::super::thresholds::serialisation::{
    BEFORE_MIN, BUSY_MAX, BUSY_MIN, CLOSE, CLOSE_MAX, EXPECTED_MIN, LIMITS_MIN, LONGER_MIN, QUEUED_MIN,
    SHARE_MIN, SPANS_MIN, TURN_S_MIN,
};

/// Finds operations that run one at a time.
pub(super) fn detect(view: &View<'_>) -> Vec<Observation> {
    let steps = || view.paths.steps.iter();
    let own = steps().filter_map(|(key, step)| finding(view, key, step));
    let calls = steps().filter_map(|(key, step)| call_in_turn(view, key, step));
    let most =
        own.chain(calls).max_by(|a, b| a.explains.unwrap_or(0.0).total_cmp(&b.explains.unwrap_or(0.0)));
    most.map(|hypothesis| Observation::Found(Box::new(hypothesis), Depth::Cause)).into_iter().collect()
}

fn finding(view: &View<'_>, key: &StepKey, step: &Step) -> Option<Hypothesis> {
    let is_leaf = step.parents == 0 && key.kind == SpanKind::Internal && !step.is_database;
    if !is_leaf || step.spans < SPANS_MIN || step.role.is_wait() {
        return None;
    }
    let per_s = step.spans as f64 * view.weight() / view.level.length_s().max(1.0);
    let alone_s = step.quantile_s(0.05);
    let share = view.explained_by(key, step);
    let is_busy = (BUSY_MIN..=BUSY_MAX).contains(&(per_s * alone_s)) && step.mean_s() >= alone_s * LONGER_MIN;
    let turn_s = if is_busy { Some(alone_s) } else { turn_s(view, step) };
    let one_s = turn_s.filter(|_| share >= SHARE_MIN)?;
    let busy = per_s * one_s;
    let claim = Claim::Serialised {
        operation: key.operation.to_string(),
        done_per_s: per_s,
        one_s,
        busy_share: busy,
        mean_s: step.mean_s(),
    };
    Some(Hypothesis {
        role: if share >= LIMITS_MIN { Role::Limits } else { Role::Contributes },
        strength: Strength::Arithmetic,
        explains: Some(share),
        numbers: vec![
            exact(FigureName::DoneRate, per_s, Unit::PerSecond),
            exact(FigureName::ServiceTime, one_s, Unit::Seconds),
            exact(FigureName::MeanOfAll, step.mean_s(), Unit::Seconds),
            exact(FigureName::BusyShare, busy * 100.0, Unit::Percent).noted(Note::RateTimesService),
            exact(FigureName::RequestTimeShare, share * 100.0, Unit::Percent),
        ],
        exemplars: view.exemplars(&step.slowest),
        caveats: vec![Caveat::KeysUnknown],
        cost: CostClass::Logic,
        prediction: view.without(share * (1.0 - one_s / step.mean_s()), Change::NoSerialisation),
        ..draft(claim, Remedy::SplitKey, key.operation.to_string())
    })
}

/// A call that a service makes one at a time while its other requests have not begun theirs: a lock is held across the call.
fn call_in_turn(view: &View<'_>, key: &StepKey, step: &Step) -> Option<Hypothesis> {
    if key.kind != SpanKind::Client || step.is_database || step.role.is_wait() || view.paths.is_biased {
        return None;
    }
    let share = view.share_of_paths(view.paths.before_calls_ns(&key.service));
    let limit = concurrency::limit(&step.times_ns, view.weight())
        .filter(|limit| share >= BEFORE_MIN && limit.at_once <= 1.0)?;
    let per_s = limit.open / limit.mean_s;
    let claim = Claim::CallsInTurn {
        service: key.service.to_string(),
        operation: key.operation.to_string(),
        done_per_s: per_s,
        one_s: limit.mean_s,
        waiting_share: share,
    };
    Some(Hypothesis {
        strength: Strength::Arithmetic,
        explains: Some(share),
        numbers: vec![
            exact(FigureName::DoneRate, per_s, Unit::PerSecond),
            exact(FigureName::ServiceTime, limit.mean_s, Unit::Seconds),
            exact(FigureName::BusyShare, limit.open * 100.0, Unit::Percent).noted(Note::RateTimesService),
            exact(FigureName::RequestTimeShare, share * 100.0, Unit::Percent),
        ],
        exemplars: view.exemplars(&step.slowest),
        cost: CostClass::Logic,
        prediction: view.without(share, Change::NoSerialisation),
        ..draft(claim, Remedy::ReleaseLock { service: key.service.to_string() }, key.service.to_string())
    })
}

/// Returns the service time of a turn, seconds, if turns follow each other without a break: the time between two ends, which is the
/// minimum distance. Only some requests have spans, so most neighbours are missing; the remaining ones suffice.
fn turn_s(view: &View<'_>, step: &Step) -> Option<f64> {
    if view.paths.is_biased {
        return None;
    }
    let end = |(start_ns, length_ns): &(i64, u64)| *start_ns as f64 + *length_ns as f64;
    let mut ends_ns: Vec<f64> = step.times_ns.iter().map(end).collect();
    ends_ns.sort_by(f64::total_cmp);
    // Without the tenth at each end: at its beginning and its end a run is no queue.
    let ends_ns = ends_ns.get(ends_ns.len() / 10..ends_ns.len() * 9 / 10).filter(|ends| ends.len() >= 2)?;
    let gaps = (ends_ns.len() - 1) as f64;
    let turn_s = (ends_ns.last()? - ends_ns.first()?) / 1e9 / gaps / view.weight();
    if turn_s < TURN_S_MIN || step.mean_s() < turn_s * QUEUED_MIN {
        return None;
    }
    // Expected number of close pairs among independent ends (exponential distances).
    let expected = gaps * (1.0 - (-CLOSE / view.weight()).exp());
    let close = ends_ns.windows(2).filter(|pair| (pair[1] - pair[0]) / 1e9 < turn_s * CLOSE).count() as f64;
    (expected >= EXPECTED_MIN && close <= expected * CLOSE_MAX).then_some(turn_s)
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{level, request, sampled, span};
    use super::super::testing::check;
    use super::*;

    /// Two hundred requests in four seconds that take turns.
    fn case(one_ms: f64, is_one_key: bool) -> crate::diagnosis::Level {
        let trace = |number: u128| {
            // Ten arrive together, every 200 ms: the last of them waits for nine.
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

    /// A queue that is never empty: each request ends 20 ms after the one before, and has waited for ten.
    fn queue(is_one_key: bool) -> crate::diagnosis::Level {
        let trace = |number: u128| {
            // Independent, or one after the other.
            let spread = (number * number * 7919 % 1_000_003) as f64 / 1_000_003.0 * 20_000.0;
            let end_ms = if is_one_key { number as f64 * 20.0 } else { spread } + 400.0;
            let mut spans = request("feed", "POST /likes", 401.0, &[]);
            spans.push(span(2, 1, "feed", "count the like", 0.5, 400.0));
            spans.iter_mut().for_each(|span| span.start_ns += ((end_ms - 400.0) * 1e6) as i64);
            let mut trace = sampled(0, spans);
            trace.id = number + 1;
            trace
        };
        // About a third of the requests is traced.
        let traced = (0..1000_u128).filter(|number| number.is_multiple_of(3) || number.is_multiple_of(7));
        crate::diagnosis::Level { traces: traced.map(trace).collect(), ..level(20, 50, 0.4) }
    }

    #[test]
    fn where_somebody_is_always_before_it_no_two_end_together() {
        check(detect, &queue(true), &["hot key: count the like"]);
        check(detect, &queue(false), &[]);
    }

    #[test]
    fn a_lock_across_a_call_lets_one_call_at_a_time() {
        let case = |slots: usize, waits_ms: f64| {
            let build = |start_ms: f64| {
                let mut spans = request("shop", "GET /price", waits_ms + 25.0, &[]);
                spans[0].start_ns += ((start_ms - waits_ms) * 1e6) as i64;
                let call = span(2, 1, "shop", "GET price", start_ms, 24.9);
                spans.push(model::Span { kind: SpanKind::Client, ..call });
                spans
            };
            let traces = super::super::super::testing::in_slots(slots, 800, 25.0, build);
            crate::diagnosis::Level { traces, ..level(20, 40, (waits_ms + 25.0) / 1e3) }
        };
        check(detect, &case(1, 375.0), &["hot key: shop"]);
        check(detect, &case(4, 375.0), &[]);
        check(detect, &case(1, 1.0), &[]);
    }
}
