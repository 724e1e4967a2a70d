//! An autoscaler at its ceiling: as many replicas as it may have, while work waits.
//!
//! Where the autoscaler says whether it would start more than it may (Kubernetes, condition `ScalingLimited`), it has to say so.
//!
//! Not: one that is slow to decide; then its replicas are below the ceiling while work waits. Nor workers that do less than they
//! could: more of them would, too.

use model::diagnosis::{CostClass, Hypothesis, Role};
use model::{Signal, SignalId, Strength, Unit};

use super::super::series;
use super::super::view::{Depth, Says, View, count, draft, exact, not, percent};
use super::consumers;

const NAME: &str = "scaler-ceiling";
const LABEL: &str = "scaler ceiling";

/// At its ceiling for so much of the time.
const AT_LIMIT_MIN: f64 = 0.5;

/// The share of the time that waits in queues, without which a ceiling limits nothing.
const WAITS_MIN: f64 = 0.1;

/// Which scaler is at its ceiling.
pub(super) fn detect(view: &View<'_>) -> Vec<Says> {
    let replicas =
        view.level.evidence.signals.iter().filter(|signal| signal.name.as_str().ends_with("replicas"));
    replicas.filter_map(|signal| of(view, signal)).collect()
}

fn of(view: &View<'_>, signal: &Signal) -> Option<Says> {
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
        let why = format!(
            "at its ceiling for {} of the time, {} of the time is waiting",
            percent(at_limit),
            percent(waits)
        );
        return Some(not(
            &format!("ceiling of {place}"),
            why,
            format!("{} of {}", count(mean), count(limit)),
        ));
    }
    Some(Says::Found(
        Box::new(Hypothesis {
            title: format!("{place} may start no more"),
            summary: format!(
                "{} of {} replicas for {} of the time",
                count(limit),
                count(limit),
                percent(at_limit)
            ),
            claim: format!(
                "the autoscaler has as many replicas as it may, and {} of the time of tasks is waiting",
                percent(waits)
            ),
            role: if consumers::is_unused(view) { Role::Contributes } else { Role::Limits },
            strength: Strength::Limit,
            explains: Some(waits),
            numbers: vec![
                exact("replicas", limit, Unit::Count).noted("the most that it may have"),
                exact("at the ceiling", at_limit * 100.0, Unit::Percent).noted("of the time"),
                exact("waiting in queues", waits * 100.0, Unit::Percent).noted("of a task's time"),
            ],
            queries: vec![view.query(signal), view.query(limit_signal)],
            caveats: vec!["more replicas need room on the nodes".to_owned()],
            remedy: format!("raise the maximum of {place}"),
            cost: CostClass::Setting,
            prediction: view.without(waits, "the maximum is raised"),
            ..draft(NAME, LABEL, place)
        }),
        Depth::Cause,
    ))
}

/// The share of the time in which the autoscaler would start more than it may, as it says itself.
fn limited(view: &View<'_>, replicas: &Signal) -> Option<f64> {
    let says = view
        .signals(&[SignalId::AutoscalerLimited])
        .into_iter()
        .find(|says| says.labels == replicas.labels)?;
    series::mean(view.level, says)
}

fn waits(view: &View<'_>) -> f64 {
    if view.paths.queue_ns > 0.0 {
        return view.paths.share(view.paths.queue_ns);
    }
    view.share_of_waiting(view.sum_of_means(&[SignalId::QueueReady]).unwrap_or(0.0))
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{flat, level, told};
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
            told(level(10, 100, 0.1), signals, Vec::new())
        };
        check(detect, &case(3.0, 6.0), &["scaler ceiling: keda-worker"]);
        check(detect, &case(2.0, 6.0), &[]);
        check(detect, &case(3.0, 0.1), &[]);
        let says = |value| {
            let mut level = case(3.0, 6.0);
            let labels = [("horizontalpodautoscaler", "keda-worker")];
            level.evidence.signals.push(flat("autoscaler_limited", &labels, 10, value));
            level
        };
        check(detect, &says(1.0), &["scaler ceiling: keda-worker"]);
        check(detect, &says(0.0), &[]);
    }
}
