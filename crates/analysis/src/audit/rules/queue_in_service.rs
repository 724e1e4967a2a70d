//! A queue's length that counts what is being worked on.

use model::audit::AuditClaim;
use model::{AuditRule, Figure, FigureLabel, Finding, Severity, Strength, Unit};

use super::Rule;
use crate::audit::kinds::{Facts, Queue};

pub(super) const RULE: Rule =
    Rule { id: AuditRule::QueueInService, input: |facts| facts.queues.len(), judge };

/// Counters that hold what waits and what was handed out and not acknowledged.
const WITH_UNACKNOWLEDGED: &[&str] = &["messages", "rabbitmq_queue_messages", "queue_messages"];

/// Shares of the peak below this change no conclusion.
const SHARE_MIN: f64 = 0.05;

fn judge(facts: &Facts) -> Vec<Finding> {
    facts.queues.iter().filter_map(find).collect()
}

fn find(queue: &Queue) -> Option<Finding> {
    let counter = queue.counter.split('{').next().unwrap_or_default().trim();
    let in_service = queue.consumers * queue.concurrency * queue.prefetch.unwrap_or(1.0).max(1.0);
    if !WITH_UNACKNOWLEDGED.contains(&counter) || in_service < queue.peak * SHARE_MIN || queue.peak <= 0.0 {
        return None;
    }
    let at_most = in_service.min(queue.peak);
    Some(Finding {
        severity: Severity::Warning,
        strength: Strength::Arithmetic,
        claim: AuditClaim::QueueInService {
            queue: queue.queue.clone(),
            in_service: at_most,
            peak: queue.peak,
        },
        evidence: vec![
            Figure::text(FigureLabel::Counter, queue.counter.clone()),
            Figure::new(FigureLabel::Peak, queue.peak, Unit::Count),
            Figure::new(FigureLabel::Consumers, queue.consumers, Unit::Count),
            Figure::new(FigureLabel::SlotsPerConsumer, queue.concurrency, Unit::Count),
            Figure::new(FigureLabel::MessagesInService, in_service, Unit::Count),
        ],
        place: queue.place.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::check;
    use super::*;

    #[test]
    fn only_what_is_ready_waits() {
        let queue = |counter: &str, peak: u32, consumers: u32| {
            format!("queue,counter,peak,consumers,concurrency\nq,{counter},{peak},{consumers},100\n")
        };
        check(judge, &queue("rabbitmq_queue_messages", 352, 4), true);
        check(judge, &queue("\"rabbitmq_queue_messages{queue=~\"\"a.*\"\"}\"", 352, 4), true);
        check(judge, &queue("rabbitmq_queue_messages_ready", 352, 4), false);
        check(judge, &queue("messages", 8001, 4), false);
        check(judge, &queue("messages", 8000, 4), true);
        check(judge, &queue("messages", 352, 0), false);
    }
}
