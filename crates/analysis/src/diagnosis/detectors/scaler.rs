//! An autoscaler at its maximum number of replicas while work waits.
//!
//! If the autoscaler reports whether its maximum holds it back (Kubernetes, condition `ScalingLimited`), it has to report that.
//!
//! Not: a slow autoscaler, whose replicas are below the maximum while work waits, and workers with idle slots, of which more would
//! be idle, too.

use model::diagnosis::{
    Caveat, Change, Claim, CostClass, FigureName, Hypothesis, Note, Remedy, Role, RuledOut,
};
use model::{Signal, SignalId, Strength, Unit};

use super::super::case_view::View;
use super::super::observation::{Depth, Observation, draft, exact};
use super::super::series;
use super::super::thresholds::scaler::{AT_LIMIT_MIN, WAITS_MIN};
use super::consumers;

/// Finds autoscalers at their maximum.
pub(super) fn detect(view: &View<'_>) -> Vec<Observation> {
    let replicas =
        view.level.evidence.signals.iter().filter(|signal| signal.name.as_str().ends_with("replicas"));
    replicas.filter_map(|signal| observe(view, signal)).collect()
}

fn observe(view: &View<'_>, signal: &Signal) -> Option<Observation> {
    let is_limit = |limit: &&Signal| limit.name.is_limit_of(&signal.name) && limit.labels == signal.labels;
    let limit_signal = view.level.evidence.signals.iter().find(is_limit)?;
    let limit = series::last(view.level, limit_signal).filter(|limit| *limit >= 1.0)?;
    let at_limit = series::share(view.level, signal, |value| value >= limit)?;
    let place = series::label(signal, &["horizontalpodautoscaler", "scaledObject", "deployment"])
        .unwrap_or("autoscaler");
    let waits = waits(view);
    let would_start = limited(view, signal);
    if at_limit < AT_LIMIT_MIN || waits < WAITS_MIN || would_start.is_some_and(|share| share < AT_LIMIT_MIN) {
        let mean = series::mean(view.level, signal)?;
        return Some(Observation::RuledOut(RuledOut::ScalerMaximum {
            scaler: place.to_owned(),
            at_maximum_share: at_limit,
            waiting_share: waits,
            replicas: mean,
            maximum: limit,
        }));
    }
    let claim = Claim::ScalerAtMaximum {
        scaler: place.to_owned(),
        replicas: limit,
        at_maximum_share: at_limit,
        waiting_share: waits,
    };
    Some(Observation::Found(
        Box::new(Hypothesis {
            role: if consumers::is_unused(view) { Role::Contributes } else { Role::Limits },
            strength: Strength::Limit,
            explains: Some(waits),
            numbers: vec![
                exact(FigureName::Replicas, limit, Unit::Count).noted(Note::MaximumReplicas),
                exact(FigureName::AtMaximumTime, at_limit * 100.0, Unit::Percent).noted(Note::OfTime),
                exact(FigureName::QueueWaitShare, waits * 100.0, Unit::Percent).noted(Note::OfTaskTime),
            ],
            queries: vec![view.query(signal), view.query(limit_signal)],
            caveats: vec![Caveat::NodeCapacity],
            cost: CostClass::Setting,
            prediction: view.without(waits, Change::MaximumRaised),
            ..draft(claim, Remedy::RaiseMaximum { scaler: place.to_owned() }, place)
        }),
        Depth::Cause,
    ))
}

/// Returns the share of the time in which the autoscaler reports that its maximum holds it back.
fn limited(view: &View<'_>, replicas: &Signal) -> Option<f64> {
    let observations = view
        .signals(&[SignalId::AutoscalerLimited])
        .into_iter()
        .find(|observations| observations.labels == replicas.labels)?;
    series::mean(view.level, observations)
}

fn waits(view: &View<'_>) -> f64 {
    if view.paths.queue_ns > 0.0 {
        return view.paths.share(view.paths.queue_ns);
    }
    view.share_of_waiting(view.sum_of_means(&[SignalId::QueueReady]).unwrap_or(0.0))
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{flat, level, with_evidence};
    use super::super::testing::check;
    use super::*;

    #[test]
    fn a_ceiling_limits_only_where_work_waits() {
        let case = |replicas, ready| {
            let labels = [("horizontalpodautoscaler", "keda-worker")];
            let signals = vec![
                flat("hpa_replicas", &labels, 10, replicas),
                flat("hpa_replicas_limit", &labels, 10, 3.0),
                flat("queue_ready", &[("queue", "q")], 10, ready),
            ];
            with_evidence(level(10, 100, 0.1), signals, Vec::new())
        };
        check(detect, &case(3.0, 6.0), &["scaler ceiling: keda-worker"]);
        check(detect, &case(2.0, 6.0), &[]);
        check(detect, &case(3.0, 0.1), &[]);
        let limited = |value| {
            let mut level = case(3.0, 6.0);
            let labels = [("horizontalpodautoscaler", "keda-worker")];
            level.evidence.signals.push(flat("autoscaler_limited", &labels, 10, value));
            level
        };
        check(detect, &limited(1.0), &["scaler ceiling: keda-worker"]);
        check(detect, &limited(0.0), &[]);
    }
}
