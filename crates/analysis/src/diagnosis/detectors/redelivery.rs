//! Messages that are processed more than once, since they return to their queue after the work. The evidence is traces in which a
//! message of a queue is processed again, and messages that are delivered and not acknowledged.
//!
//! Not: messages that wait in a queue.

use model::diagnosis::{
    Caveat, Change, Claim, CostClass, FigureName, Hypothesis, Note, Remedy, Role, RuledOut,
};
use model::signal::label;
use model::{SignalId, Strength, Unit};

use super::super::case_view::View;
use super::super::observation::{Depth, Observation, draft, exact};
use super::super::series;
use super::super::thresholds::redelivery::{AGAIN_MIN, LIMITS_MIN};

/// Finds queues whose messages are redelivered.
pub(super) fn detect(view: &View<'_>) -> Vec<Observation> {
    let traced = view.paths.messages.iter().filter(|(_, (all, _))| *all > 0);
    let worst = traced.map(|(queue, (all, again))| (queue.as_str(), *all, *again as f64 / *all as f64));
    match worst.max_by(|a, b| a.2.total_cmp(&b.2)) {
        Some((queue, all, again)) if again >= AGAIN_MIN => vec![found(view, queue, again, Some(all))],
        Some((queue, _, again)) => {
            vec![Observation::RuledOut(RuledOut::Redelivery { queue: queue.to_owned(), again_share: again })]
        }
        None => by_rates(view).into_iter().collect(),
    }
}

fn by_rates<'a>(view: &View<'a>) -> Option<Observation> {
    let of = |signal: &'a model::Signal| {
        let queue = signal.labels.get(label::QUEUE)?;
        let acked =
            view.signals(&[SignalId::QueueAcked]).into_iter().find(|acked| acked.labels == signal.labels)?;
        let (delivered, acked) = (series::mean(view.level, signal)?, series::mean(view.level, acked)?);
        (delivered > 0.0).then(|| (queue.as_str(), 1.0 - acked / delivered))
    };
    let signals = view.signals(&[SignalId::QueueDelivered]);
    let (queue, again) = signals.into_iter().filter_map(of).max_by(|a, b| a.1.total_cmp(&b.1))?;
    (again >= AGAIN_MIN).then(|| found(view, queue, again, None))
}

fn found(view: &View<'_>, queue: &str, again: f64, traced: Option<u64>) -> Observation {
    let mut numbers = vec![
        exact(FigureName::RepeatedWork, again * 100.0, Unit::Percent).noted(Note::Queue(queue.to_owned())),
    ];
    numbers.extend(traced.map(|all| exact(FigureName::TracedWork, all as f64, Unit::Count)));
    Observation::Found(
        Box::new(Hypothesis {
            role: if again >= LIMITS_MIN { Role::Limits } else { Role::Contributes },
            strength: if traced.is_some() { Strength::Arithmetic } else { Strength::Statistics },
            explains: Some(again),
            numbers,
            queries: view
                .signals(&[SignalId::QueueDelivered, SignalId::QueueAcked])
                .into_iter()
                .filter(|signal| signal.labels.get(label::QUEUE).is_some_and(|name| name == queue))
                .map(|signal| view.query(signal))
                .collect(),
            cost: CostClass::Logic,
            prediction: view.without(again, Change::NoRedelivery),
            caveats: vec![Caveat::Throughput { per_s: view.level.throughput_per_s() }],
            ..draft(
                Claim::Redelivered { queue: queue.to_owned(), again_share: again },
                Remedy::AcknowledgeMessages,
                queue,
            )
        }),
        Depth::Cause,
    )
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{flat, level, with_evidence};
    use super::super::testing::check;
    use super::*;

    #[test]
    fn what_is_delivered_and_not_acknowledged_comes_again() {
        let case = |acked| {
            let queue = [("queue", "scan.answer")];
            let signals =
                vec![flat("queue_delivered", &queue, 10, 30.0), flat("queue_acked", &queue, 10, acked)];
            with_evidence(level(10, 100, 0.1), signals, Vec::new())
        };
        check(detect, &case(20.0), &["redelivered messages: scan.answer"]);
        check(detect, &case(29.9), &[]);
    }
}
