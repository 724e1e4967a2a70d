//! Messages that are worked on again: given back to their queue after the work, so that it is done twice. Known by work on one
//! message of one queue that traces show more than once, and by messages that are delivered and not acknowledged.
//!
//! Not: messages that wait.

use model::diagnosis::{CostClass, Hypothesis, Role};
use model::signal::label;
use model::{SignalId, Strength, Unit};

use super::super::series;
use super::super::view::{Depth, Says, View, draft, exact, not, percent, rate};

const NAME: &str = "redelivery";
const LABEL: &str = "redelivered messages";

/// The share of the work that is done again, from which on it is told.
const AGAIN_MIN: f64 = 0.05;

/// From this share on it is what limits.
const LIMITS_MIN: f64 = 0.1;

/// What is done again.
pub(super) fn detect(view: &View<'_>) -> Vec<Says> {
    let traced = view.paths.messages.iter().filter(|(_, (all, _))| *all > 0);
    let worst = traced.map(|(queue, (all, again))| (queue.as_str(), *all, *again as f64 / *all as f64));
    match worst.max_by(|a, b| a.2.total_cmp(&b.2)) {
        Some((queue, all, again)) if again >= AGAIN_MIN => vec![found(view, queue, again, Some(all))],
        Some((queue, _, again)) => {
            vec![not("messages that come again", format!("most of them in {queue}"), percent(again))]
        }
        None => by_rates(view).into_iter().collect(),
    }
}

fn by_rates<'a>(view: &View<'a>) -> Option<Says> {
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

fn found(view: &View<'_>, queue: &str, again: f64, traced: Option<u64>) -> Says {
    let mut numbers = vec![exact("work that is done again", again * 100.0, Unit::Percent).noted(queue)];
    numbers.extend(traced.map(|all| exact("work that was traced", all as f64, Unit::Count)));
    Says::Found(
        Box::new(Hypothesis {
            title: format!("messages of {queue} come again"),
            summary: format!("{} of the work is done again", percent(again)),
            claim: format!(
                "{} of the work on messages of {queue} is on messages that had been worked on",
                percent(again)
            ),
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
            remedy: "acknowledge what was done, and put what cannot be done aside".to_owned(),
            cost: CostClass::Logic,
            prediction: view.without(again, "no message comes again"),
            caveats: vec![format!("what goes through is {}", rate(view.level.throughput_per_s()))],
            ..draft(NAME, LABEL, queue)
        }),
        Depth::Cause,
    )
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{flat, level, told};
    use super::super::testing::check;
    use super::*;

    #[test]
    fn what_is_delivered_and_not_acknowledged_comes_again() {
        let case = |acked| {
            let queue = [("queue", "scan.answer")];
            let signals =
                vec![flat("queue_delivered", &queue, 10, 30.0), flat("queue_acked", &queue, 10, acked)];
            told(level(10, 100, 0.1), signals, Vec::new())
        };
        check(detect, &case(20.0), &["redelivered messages: scan.answer"]);
        check(detect, &case(29.9), &[]);
    }
}
