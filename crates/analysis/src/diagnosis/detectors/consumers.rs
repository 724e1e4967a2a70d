//! Tasks that wait in a queue because consumers take too few at a time: a prefetch that is used up while messages wait, or too
//! few consumers, in particular if there are workers that consume from no queue. By Little's law busy slots are throughput times
//! service time; if they are fewer than all slots, more slots do not help.
//!
//! Messages that a consumer holds and does not process yet wait, too: if other consumers are idle meanwhile, more of them do not help
//! (head-of-line blocking).
//!
//! Not: messages that consumers hold for being processed next, with all consumers busy.

use std::collections::BTreeMap;

use model::diagnosis::{
    Caveat, Change, Claim, CostClass, FigureName, Hypothesis, MissingKind, Note, Remedy, Resource,
    ResourceKind, Role, RuledOut, SlotKind,
};
use model::signal::label;
use model::{SignalId, SignalRole, Strength, Unit};

use super::super::case_view::View;
use super::super::ceilings::Ceiling;
use super::super::observation::{Depth, Observation, draft, exact};
use super::super::series;
use super::super::thresholds::consumers::{
    CONSUMING_MAX, HELD_MIN, HELD_WAITING_MIN, IDLE_HOLDERS_MIN, PREFETCH_SMALL, READY_MIN, SHARE_MIN,
    SLOTS_BUSY_MIN,
};

/// Messages and consumers of a queue.
const COUNTS: &[SignalId] =
    &[SignalId::QueueReady, SignalId::QueueUnacked, SignalId::QueueConsumers, SignalId::QueuePrefetch];

/// The mean state of a queue.
#[derive(Debug, Default)]
struct Queue {
    ready: f64,
    unacked: f64,
    consumers: Option<f64>,
    prefetch: Option<f64>,
    acked: Option<f64>,
}

/// Finds queues whose consumers are the bottleneck.
pub(super) fn detect(view: &View<'_>) -> Vec<Observation> {
    let queues = queues(view);
    let waits = waits(view, &queues);
    if queues.is_empty() {
        let has_queues = view.paths.queue_ns > 0.0;
        return match has_queues {
            true => vec![Observation::Missing(MissingKind::Broker)],
            false => Vec::new(),
        };
    }
    if waits < SHARE_MIN && prefetch(&queues).is_none() {
        let ready: f64 = queues.values().map(|queue| queue.ready).sum();
        let mut observations = vec![Observation::RuledOut(RuledOut::Queues { ready })];
        observations.extend(slots(view).map(Observation::RuledOut));
        return observations;
    }
    match prefetch(&queues) {
        Some((name, queue)) => vec![of_prefetch(view, name, queue, waits.max(SHARE_MIN))],
        None => vec![held(view, &queues, waits).unwrap_or_else(|| of_consumers(view, &queues, waits))],
    }
}

/// Finds a queue whose messages wait in consumers that hold them while others are idle: by Little's law, consumers process rate times
/// service time of the messages that they hold.
fn held(view: &View<'_>, queues: &BTreeMap<&str, Queue>, waits: f64) -> Option<Observation> {
    let limits = view.signals(&[SignalId::TasksActiveMax]).len();
    let slots_each = view.level.slots.map_or(1.0, |slots| (slots / limits.max(1) as f64).max(1.0));
    let held = queues.iter().filter_map(|(name, queue)| {
        let consumers = queue.consumers.filter(|consumers| *consumers >= IDLE_HOLDERS_MIN)?;
        let (messages, total_ns) = view.paths.processing.get(*name)?;
        let per_s = queue.acked.unwrap_or_else(|| view.level.throughput_per_s());
        let service_s = total_ns / 1e9 / (*messages).max(1) as f64;
        let busy = crate::laws::little::in_flight(per_s, service_s);
        let (held, slots) = (queue.unacked - busy, consumers * slots_each);
        let is_so = held >= HELD_WAITING_MIN && held > queue.ready && busy < slots * SLOTS_BUSY_MIN;
        is_so.then_some((*name, held, (busy, slots), service_s))
    });
    let (name, held, (busy, slots), service_s) = held.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let resource = Resource { kind: ResourceKind::TaskSlots, place: name.to_owned() };
    // Slots that are all busy let no more through (utilisation law).
    let most = Ceiling { resource, per_s: slots / service_s.max(f64::MIN_POSITIVE), is_firm: true };
    let claim = Claim::HeldByConsumers { queue: name.to_owned(), held, busy, slots, waiting_share: waits };
    Some(Observation::Found(
        Box::new(Hypothesis {
            role: Role::Limits,
            strength: Strength::Arithmetic,
            explains: Some(waits),
            numbers: vec![
                exact(FigureName::QueueWaitShare, waits * 100.0, Unit::Percent).noted(Note::OfTaskTime),
                exact(FigureName::MessagesHeld, held + busy, Unit::Count).noted(Note::MeanOfRun),
                exact(FigureName::AtOnce, busy, Unit::Count).noted(Note::WorkPerSecond),
                exact(FigureName::Limit, slots, Unit::Count),
            ],
            queries: queries(view, name),
            cost: CostClass::Setting,
            prediction: view.without_up_to(waits, Change::EnoughConsumers, most),
            ..draft(claim, Remedy::LowerPrefetch, name)
        }),
        Depth::Cause,
    ))
}

/// Returns the queueing share of task time: from traces, otherwise by Little's law.
fn waits(view: &View<'_>, queues: &BTreeMap<&str, Queue>) -> f64 {
    if view.paths.queue_ns > 0.0 {
        return view.paths.share(view.paths.queue_ns);
    }
    view.share_of_waiting(queues.values().map(|queue| queue.ready).sum())
}

fn queues<'a>(view: &View<'a>) -> BTreeMap<&'a str, Queue> {
    let mut queues: BTreeMap<&str, Queue> = BTreeMap::new();
    for signal in view.signals(&[COUNTS, &[SignalId::QueueAcked]].concat()) {
        let (Some(queue), Some(mean)) = (signal.labels.get(label::QUEUE), series::mean(view.level, signal))
        else {
            continue;
        };
        let queue = queues.entry(queue).or_default();
        match signal.name.id() {
            Some(SignalId::QueueReady) => queue.ready = queue.ready.max(mean),
            Some(SignalId::QueueUnacked) => queue.unacked = queue.unacked.max(mean),
            Some(SignalId::QueueConsumers) => queue.consumers = Some(mean),
            Some(SignalId::QueuePrefetch) => queue.prefetch = Some(mean),
            _ => queue.acked = Some(mean),
        }
    }
    queues
}

/// Finds a queue whose small prefetch is used up while most messages wait.
fn prefetch<'q, 'a>(queues: &'q BTreeMap<&'a str, Queue>) -> Option<(&'a str, &'q Queue)> {
    let is_so = |queue: &&Queue| {
        let (Some(prefetch), Some(consumers)) = (queue.prefetch, queue.consumers) else { return false };
        let each = prefetch / consumers.max(1.0);
        each <= PREFETCH_SMALL && queue.unacked >= prefetch * HELD_MIN && queue.ready >= READY_MIN
    };
    let those = queues.iter().filter(|(_, queue)| is_so(queue));
    those.max_by(|a, b| a.1.ready.total_cmp(&b.1.ready)).map(|(name, queue)| (*name, queue))
}

fn of_prefetch(view: &View<'_>, name: &str, queue: &Queue, waits: f64) -> Observation {
    let (prefetch, consumers) = (queue.prefetch.unwrap_or(0.0), queue.consumers.unwrap_or(0.0));
    let claim = Claim::PrefetchUsedUp {
        queue: name.to_owned(),
        consumers,
        each: prefetch / consumers.max(1.0),
        held: queue.unacked,
        prefetch,
        ready: queue.ready,
    };
    Observation::Found(
        Box::new(Hypothesis {
            role: Role::Limits,
            strength: Strength::Limit,
            explains: Some(waits),
            numbers: vec![
                exact(FigureName::Prefetch, prefetch, Unit::Count).noted(Note::Consumers(consumers)),
                exact(FigureName::MessagesHeld, queue.unacked, Unit::Count).noted(Note::MeanOfRun),
                exact(FigureName::MessagesReady, queue.ready, Unit::Count).noted(Note::WaitingMessages),
                exact(FigureName::QueueWaitShare, waits * 100.0, Unit::Percent).noted(Note::OfTaskTime),
            ],
            queries: queries(view, name),
            cost: CostClass::Setting,
            prediction: view.without(waits, Change::EnoughPrefetch),
            ..draft(claim, Remedy::RaisePrefetch, name)
        }),
        Depth::Cause,
    )
}

/// Returns true if existing task slots are idle: then further ones would be idle as well.
pub(super) fn is_unused(view: &View<'_>) -> bool {
    let queues = queues(view);
    prefetch(&queues).is_some() || queues.values().any(|queue| idle(view, queue).is_some())
}

/// Returns the number of workers if it exceeds the number of consumers of this queue.
fn idle(view: &View<'_>, queue: &Queue) -> Option<f64> {
    let workers = view.highest_of_means(SignalRole::Workers)?;
    let consumers = queue.consumers?;
    (consumers < workers * CONSUMING_MAX && workers - consumers >= 1.0).then_some(workers)
}

fn of_consumers(view: &View<'_>, queues: &BTreeMap<&str, Queue>, waits: f64) -> Observation {
    let (name, queue) =
        match queues.iter().max_by(|a, b| (a.1.ready + a.1.unacked).total_cmp(&(b.1.ready + b.1.unacked))) {
            Some((name, queue)) => (*name, queue),
            None => return Observation::RuledOut(RuledOut::Queues { ready: 0.0 }),
        };
    let ready: f64 = queues.values().map(|queue| queue.ready).sum();
    let consumers = queue.consumers.unwrap_or(0.0);
    let mut numbers = vec![
        exact(FigureName::QueueWaitShare, waits * 100.0, Unit::Percent).noted(Note::OfTaskTime),
        exact(FigureName::MessagesReady, ready, Unit::Count).noted(Note::AllQueues),
        exact(FigureName::MessagesHeld, queues.values().map(|queue| queue.unacked).sum(), Unit::Count),
        exact(FigureName::Consumers, consumers, Unit::Count).noted(Note::Queue(name.to_owned())),
    ];
    numbers.extend(queue.acked.map(|per_s| {
        exact(FigureName::DoneRate, per_s, Unit::PerSecond).noted(Note::Queue(name.to_owned()))
    }));
    let workers = idle(view, queue);
    numbers.extend(workers.map(|workers| exact(FigureName::Workers, workers, Unit::Count)));
    let claim = Claim::FewConsumers { queue: name.to_owned(), consumers, workers, waiting_share: waits };
    Observation::Found(
        Box::new(Hypothesis {
            role: Role::Limits,
            strength: if workers.is_some() { Strength::Limit } else { Strength::Statistics },
            explains: Some(waits),
            numbers,
            queries: queries(view, name),
            ruled_out: slots(view).into_iter().collect(),
            caveats: match workers {
                Some(_) => Vec::new(),
                None => vec![Caveat::ConsumersBusy],
            },
            cost: CostClass::Resource,
            prediction: match workers {
                // Idle workers that consume no queue are as many as there are.
                Some(_) => view.without(waits, Change::EnoughConsumers),
                None => view.with_slots(waits, SlotKind::Consumers, consumers),
            },
            ..draft(claim, Remedy::AddConsumers, name)
        }),
        if workers.is_some() { Depth::Cause } else { Depth::Resource },
    )
}

fn queries(view: &View<'_>, name: &str) -> Vec<model::diagnosis::EvidenceQuery> {
    let of_queue = view
        .signals(COUNTS)
        .into_iter()
        .filter(|signal| signal.labels.get(label::QUEUE).is_some_and(|queue| queue == name));
    of_queue.take(super::QUERIES_MAX).map(|signal| view.query(signal)).collect()
}

/// Rules out the slots if not all were busy: throughput times service time (Little's law).
fn slots(view: &View<'_>) -> Option<RuledOut> {
    let slots = view.level.slots?;
    let work_s = view.level.service_s?;
    let through = view.level.throughput_per_s();
    let busy = crate::laws::little::in_flight(through, work_s);
    // Nearly all slots busy is no refutation.
    (busy < slots * SLOTS_BUSY_MIN).then_some(RuledOut::WorkerSlots {
        through_per_s: through,
        service_s: work_s,
        busy,
        slots,
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::case::{Level, Tasks};
    use model::{Span, SpanKind};

    use super::super::super::testing::{flat, level, sampled, span, with_evidence};
    use super::super::testing::{check, fires};
    use super::*;

    fn case(ready: f64, unacked: f64, prefetch: f64) -> Level {
        let queue = [("queue", "scan.vision")];
        let signals = vec![
            flat("queue_ready", &queue, 10, ready),
            flat("queue_unacked", &queue, 10, unacked),
            flat("queue_consumers", &queue, 10, 2.0),
            flat("queue_prefetch", &queue, 10, prefetch),
        ];
        let tasks = Tasks { done: 100, mean_s: Some(4.0), ..Tasks::default() };
        Level { tasks: Some(tasks), ..with_evidence(level(10, 50, 0.01), signals, Vec::new()) }
    }

    #[test]
    fn a_small_prefetch_is_told_from_few_consumers() {
        check(detect, &case(20.0, 2.0, 2.0), &["prefetch too small: scan.vision"]);
        check(detect, &case(20.0, 30.0, 80.0), &["too few consumers: scan.vision"]);
        check(detect, &case(0.0, 10.0, 80.0), &[]);
    }

    #[test]
    fn messages_behind_a_long_task_wait_in_their_consumer() {
        // Fifty tasks per second that wait for half a second; two consumers hold 30 messages.
        let case = |work_ms: f64, ready: f64| {
            let trace = |number: u128| {
                let submit = Span { kind: SpanKind::Producer, ..span(1, 0, "api", "send", 0.0, 1.0) };
                let queue = vec![("messaging.destination.name".into(), "scan.vision".to_owned())];
                let work = span(2, 1, "worker", "process", 500.0, work_ms);
                let work = Span { kind: SpanKind::Consumer, attributes: queue, ..work };
                sampled(number, vec![submit, work])
            };
            let mut level = case(ready, 30.0, 80.0);
            level.tasks = Some(Tasks { done: 500, mean_s: Some(0.55), ..Tasks::default() });
            Level { traces: (0..500).map(trace).collect(), ..level }
        };
        check(detect, &case(20.0, 0.0), &["head-of-line blocking: scan.vision"]);
        // Two slots of 20 ms are 100 tasks per second, though a task without its wait would take a tenth of the time.
        let mut closed = case(20.0, 0.0);
        closed.closed_vus = Some(28.0);
        let found = fires(detect, &closed);
        let then = found[0].prediction.as_ref().and_then(|prediction| prediction.then.as_ref());
        assert_eq!(then.map(|rate| rate.value.round()), Some(100.0));
        check(detect, &case(39.0, 0.0), &["too few consumers: scan.vision"]);
        check(detect, &case(20.0, 60.0), &["too few consumers: scan.vision"]);
    }

    #[test]
    fn workers_that_take_from_no_queue_are_told() {
        let depth_of = |workers| {
            let mut level = case(20.0, 30.0, 80.0);
            level.evidence.signals.push(flat("worker_count", &[], 10, workers));
            fires(detect, &level)[0].strength
        };
        assert_eq!((depth_of(2.0), depth_of(4.0)), (Strength::Statistics, Strength::Limit));
    }

    /// A seed's figures: 6.13/s × 11.29 s are 69 busy slots, of 200 or 400.
    #[test]
    fn slots_that_are_not_busy_are_ruled_out() {
        let mut level = case(40.0, 30.0, 80.0);
        level.tasks = Some(Tasks { done: 1336, mean_s: Some(59.2), ..Tasks::default() });
        level.seconds = super::super::super::testing::level(218, 100, 0.3).seconds;
        (level.slots, level.service_s) = (Some(200.0), Some(11.29));
        let found = fires(detect, &level);
        let RuledOut::WorkerSlots { busy, slots, .. } = found[0].ruled_out[0] else { panic!("{found:?}") };
        assert_eq!((busy.round(), slots), (69.0, 200.0));
        level.slots = Some(60.0);
        assert!(fires(detect, &level)[0].ruled_out.is_empty());
    }
}
