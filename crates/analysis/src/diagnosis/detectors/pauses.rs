//! A service that pauses as a whole: stop-the-world garbage collection, reported by the runtime or visible in traces as repeated
//! gaps of equal length in which no span of the service begins or ends although requests are open.
//!
//! Not: a service that waits for one slow dependency while other work goes on, or an idle service.

use model::diagnosis::{
    Caveat, Change, Claim, CostClass, FigureName, Hypothesis, Measured, Note, Remedy, Role, RuledOut,
};
use model::{Fault, SignalRole, Strength, Unit};

use super::super::case_view::View;
use super::super::observation::{Depth, Observation, draft, exact};
use super::super::series;
use super::super::thresholds::pauses::{
    CALLED_MIN, COLLECTED_MIN, OWN_MIN, SHARE_MIN, STALLED_MIN, STALLS_PER_S_MAX, VARIATION_MAX,
};
use crate::traces::Component;

/// Finds services that pause as a whole.
pub(super) fn detect(view: &View<'_>) -> Vec<Observation> {
    let reported = view.signals(&SignalRole::GcShare.signals()).into_iter().filter_map(|signal| {
        let share = series::mean(view.level, signal)?;
        let place = series::place(signal).to_owned();
        if share < SHARE_MIN {
            return Some(Observation::RuledOut(RuledOut::GarbageCollection { place, share }));
        }
        let collector = found(
            view,
            Claim::GarbageCollection { place: place.clone(), stalled_share: share },
            &place,
            share.max(view.stalls.as_ref().map_or(0.0, |stalls| stalls.explains)),
            vec![exact(FigureName::CollectorTime, share * 100.0, Unit::Percent)],
        );
        Some(Observation::Found(Box::new(collector), Depth::Cause))
    });
    let mut observations: Vec<Observation> = reported.collect();
    observations.extend(seen(view));
    observations
}

fn seen(view: &View<'_>) -> Option<Observation> {
    let stalls = view.stalls.as_ref()?;
    let is_so =
        stalls.per_s < STALLS_PER_S_MAX && stalls.share >= STALLED_MIN && stalls.variation <= VARIATION_MAX;
    if !is_so || is_of_machine(view, stalls.share) || is_of_callee(view) {
        return Some(Observation::RuledOut(RuledOut::Pauses {
            place: stalls.service.clone(),
            stalled_share: stalls.share,
        }));
    }
    let numbers = vec![
        exact(FigureName::PauseLength, stalls.mean_s, Unit::Seconds),
        exact(FigureName::PauseRate, stalls.per_s, Unit::PerSecond),
        exact(FigureName::StalledTime, stalls.share * 100.0, Unit::Percent),
        exact(FigureName::RequestTimeShare, stalls.explains * 100.0, Unit::Percent).noted(Note::InPauses),
    ];
    let claim = Claim::Pauses {
        place: stalls.service.clone(),
        stalled_share: stalls.share,
        pauses: stalls.count as f64,
        mean_s: stalls.mean_s,
    };
    let pauses = found(view, claim, &stalls.service, stalls.share.max(stalls.explains), numbers);
    let pauses =
        Hypothesis { strength: Strength::Pattern, caveats: vec![Caveat::CollectorUnconfirmed], ..pauses };
    Some(Observation::Found(Box::new(pauses), Depth::Cause))
}

/// Whether something else than the service explains stalls in its traces: the machine pauses, which the load generator notices
/// too, or the runtime reports its collector, and that takes far less time.
fn is_of_machine(view: &View<'_>, stalled: f64) -> bool {
    const OF_MACHINE: [Fault; 3] = [Fault::Steal, Fault::RunDelay, Fault::TimerLag];
    let is_paused = view.level.reasons.iter().any(|reason| OF_MACHINE.contains(&reason.fault));
    let collector = view.highest_of_means(SignalRole::GcShare);
    is_paused || collector.is_some_and(|share| share < stalled * COLLECTED_MIN)
}

/// Whether requests spend their time in calls, so that the service waits for its callee: a lock of a database, for example. A pause of
/// the service itself also stops its own work.
fn is_of_callee(view: &View<'_>) -> bool {
    let own = view.share_of_paths(view.paths.attribution.part_ns(Component::Target) as f64);
    let called = [Component::Database, Component::External]
        .map(|part| view.share_of_paths(view.paths.attribution.part_ns(part) as f64));
    own < OWN_MIN && called.iter().sum::<f64>() >= CALLED_MIN
}

fn found(view: &View<'_>, claim: Claim, place: &str, explains: f64, numbers: Vec<Measured>) -> Hypothesis {
    // Requests that arrive during a pause wait for its end, and so do those behind them.
    Hypothesis {
        role: Role::Limits,
        strength: Strength::Limit,
        explains: Some(explains),
        numbers,
        queries: view
            .signals(&SignalRole::GcShare.signals())
            .into_iter()
            .map(|signal| view.query(signal))
            .collect(),
        cost: CostClass::Setting,
        prediction: view.without(explains, Change::NoPauses),
        ..draft(claim, Remedy::AllocateLess, place)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::stalls::testing::standing_still;
    use super::super::super::testing::{flat, level, with_evidence};
    use super::super::testing::check;
    use super::*;

    #[test]
    fn a_collector_that_takes_a_tenth_is_told() {
        let case = |share| {
            with_evidence(
                level(10, 10, 0.1),
                vec![flat("jvm_gc_share", &[("pod", "a")], 10, share)],
                Vec::new(),
            )
        };
        check(detect, &case(0.3), &["stop-the-world pauses: a"]);
        check(detect, &case(0.02), &[]);
    }

    #[test]
    fn equal_pauses_are_seen_in_traces() {
        check(detect, &standing_still(level(20, 10, 0.1), 1000, 150), &["stop-the-world pauses: shop"]);
        check(detect, &standing_still(level(20, 10, 0.1), 1000, 0), &[]);
    }

    #[test]
    fn pauses_of_the_machine_are_no_collector() {
        let still = || standing_still(level(20, 10, 0.1), 1000, 150);
        let reason = model::Reason {
            fault: Fault::Steal,
            grade: model::Grade::Degraded,
            observed: model::Amount::Share(0.2),
            limit: model::Amount::Share(0.05),
            windows: Vec::new(),
        };
        check(detect, &crate::diagnosis::Level { reasons: vec![reason], ..still() }, &[]);
        let collector = |share| {
            with_evidence(still(), vec![flat("jvm_gc_share", &[("pod", "a")], 20, share)], Vec::new())
        };
        check(detect, &collector(0.001), &[]);
        check(detect, &collector(0.09), &["stop-the-world pauses: shop"]);
    }
}
