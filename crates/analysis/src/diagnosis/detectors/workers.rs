//! A service with a fixed number of workers, so that further requests queue. This detector runs only if no other one finds a
//! bottleneck, since a service that another resource delays has all workers in use as well.
//!
//! The evidence is one of four: spans that wait for a worker; a queue in front of a service, or of its first call, whose spans show a
//! limit of concurrency ([`concurrency`]); a server's own metrics of its workers; or two loads, of which the higher has more requests
//! in flight and no more throughput. Then the operation whose time grows holds the queue (asymptotic bounds of closed networks; Denning
//! and Buzen, 1978).
//!
//! Not: waits with a name of their own (connections, locks, keys, quotas), which are reported under that name.

use std::collections::BTreeSet;
use std::sync::Arc;

use model::diagnosis::{
    Caveat, Change, Claim, CostClass, FigureName, Hypothesis, Measured, NextLimit, Note, Prediction,
    Refutation, Remedy, SlotKind,
};
use model::{Signal, SignalId, SignalRole, SpanKind, Strength, Unit};

use super::super::case_view::View;
use super::super::concurrency::{self, ConcurrencyLimit};
use super::super::observation::{Depth, Observation, draft, exact};
use super::super::paths::{Paths, Step, StepKey};
use super::super::prediction::Gone;
use super::super::series;
use super::super::thresholds::workers::{
    BETWEEN_RUNS, COUNTED_MIN, DEMAND_MIN, GAIN_MAX, GROWTH_MIN, OUTSIDE_MIN, OWN_MAX, SEVERAL_MIN,
    SHARE_MIN, TAKEN_MIN, WAIT_S_MIN,
};
use super::calls::Share;
use crate::roles::{ActivityRole, Turn};

/// Finds services with too few workers.
pub(super) fn detect(view: &View<'_>) -> Vec<Observation> {
    let found = waiting(view)
        .or_else(|| in_front_of_service(view))
        .or_else(|| in_front_of_work(view))
        .or_else(|| counted(view))
        .or_else(|| taken(view))
        .or_else(|| paced(view))
        .or_else(|| plateau(view));
    found.map(|hypothesis| Observation::Found(Box::new(hypothesis), Depth::Resource)).into_iter().collect()
}

fn waiting(view: &View<'_>) -> Option<Hypothesis> {
    let mean_s = view.level.requests.mean_s.filter(|_| view.level.tasks.is_none())?;
    let waits =
        view.paths.steps.iter().filter(|(_, step)| step.role == ActivityRole::QueueWait(Turn::Worker));
    let (key, step) = waits.max_by(|a, b| a.1.own_ns.total_cmp(&b.1.own_ns))?;
    let share = view.share_of_paths(step.own_ns);
    if share < SHARE_MIN || share * mean_s < WAIT_S_MIN {
        return None;
    }
    let works_ns = works_ns(&view.paths, &key.service);
    let at_once = works_ns / 1e9 * view.weight() / view.level.length_s().max(1.0);
    let kept = kept(view, &key.service);
    let prediction = match &kept {
        Some((operation, of_read)) => {
            let gone = Gone { share: of_read.all, freed: of_read.demand };
            view.without_work(gone, Change::AnswerCached { operation: operation.to_string() })
        }
        None => view.without(share, Change::EnoughWorkers),
    };
    let claim = Claim::WorkersBusy {
        service: key.service.to_string(),
        operation: key.operation.to_string(),
        at_once,
        through_per_s: view.level.requests_per_s(),
        waiting_share: share,
    };
    Some(Hypothesis {
        explains: Some(share),
        numbers: vec![
            exact(FigureName::QueueWait, step.mean_s(), Unit::Seconds).noted(Note::MeanOf(step.spans)),
            exact(FigureName::RequestTimeShare, share * 100.0, Unit::Percent),
            exact(FigureName::AtOnce, at_once, Unit::Count).noted(Note::WorkPerSecond),
            exact(FigureName::Throughput, view.level.requests_per_s(), Unit::PerSecond),
        ],
        exemplars: view.exemplars(&step.slowest),
        prediction,
        ..hypothesis(view, claim, &key.service, kept.map(|(operation, of_read)| (operation, of_read.demand)))
    })
}

/// A queue in front of a service.
pub(super) struct FrontQueue<'v> {
    service: &'v Arc<str>,
    limit: ConcurrencyLimit,
    /// Share of response time in the queue.
    share: f64,
    /// Mean response time, seconds.
    mean_s: f64,
}

/// Returns the queue in front of a service, if there is one: requests spend their time before the first span, and the service has a
/// limit of concurrency.
pub(super) fn queue_in_front<'v>(view: &'v View<'_>) -> Option<FrontQueue<'v>> {
    let mean_s = view.level.requests.mean_s.filter(|_| view.level.tasks.is_none())?;
    let share = view.share_outside();
    if view.paths.is_biased || share < OUTSIDE_MIN || share * mean_s < WAIT_S_MIN {
        return None;
    }
    let limits = view
        .paths
        .entries
        .iter()
        .filter_map(|(service, spans)| Some((service, concurrency::limit(spans, view.weight())?)));
    let (service, limit) = limits.min_by(|a, b| a.1.at_once.total_cmp(&b.1.at_once))?;
    Some(FrontQueue { service, limit, share, mean_s })
}

fn in_front_of_service(view: &View<'_>) -> Option<Hypothesis> {
    queue_in_front(view).map(|queue| queued(view, queue))
}

fn queued(view: &View<'_>, queue: FrontQueue<'_>) -> Hypothesis {
    let FrontQueue { service, limit, share, mean_s } = queue;
    let claim = Claim::QueuedInFront {
        service: service.to_string(),
        at_once: limit.at_once,
        through_per_s: view.level.requests_per_s(),
        waiting_share: share,
    };
    let slowest = view.paths.steps.iter().filter(|(key, _)| key.service == *service);
    let slowest = slowest.max_by_key(|(_, step)| step.spans).map(|(_, step)| view.exemplars(&step.slowest));
    Hypothesis {
        explains: Some(share),
        numbers: vec![
            exact(FigureName::QueueWait, share * mean_s, Unit::Seconds),
            exact(FigureName::RequestTimeShare, share * 100.0, Unit::Percent),
            exact(FigureName::AtOnce, limit.open, Unit::Count).noted(Note::WorkPerSecond),
            exact(FigureName::ServiceTime, limit.mean_s, Unit::Seconds),
            exact(FigureName::InFlight, view.level.in_flight(), Unit::Count),
        ],
        exemplars: slowest.unwrap_or_default(),
        prediction: view.with_slots(share, SlotKind::Workers, limit.at_once),
        ..hypothesis(view, claim, service, None)
    }
}

/// Finds a service whose requests have begun and wait before their first call, of which a limited number is at work: their spans begin
/// where they are accepted, and not on the worker. One at a time may be a lock as well.
fn in_front_of_work(view: &View<'_>) -> Option<Hypothesis> {
    let mean_s =
        view.level.requests.mean_s.filter(|_| view.level.tasks.is_none() && !view.paths.is_biased)?;
    let services: BTreeSet<&Arc<str>> =
        view.paths.steps.keys().filter(|key| key.kind == SpanKind::Server).map(|key| &key.service).collect();
    let found = services.into_iter().filter_map(|service| {
        let begun = view.paths.begun(service);
        let share = view.share_of_paths(begun.before_ns);
        let limit = concurrency::limit(&begun.spans, view.weight())?;
        let waits = share >= SHARE_MIN && share * mean_s >= WAIT_S_MIN && limit.at_once >= SEVERAL_MIN;
        waits.then_some(FrontQueue { service, limit, share, mean_s })
    });
    found.max_by(|a, b| a.share.total_cmp(&b.share)).map(|queue| queued(view, queue))
}

/// Finds a server whose own metrics count the requests that wait for one of its threads, processes or connections, or whose kernel counts
/// the connections that it has not accepted: divided by the requests in flight they are the share of response time (Little's law).
fn counted(view: &View<'_>) -> Option<Hypothesis> {
    let mean_s = view.level.requests.mean_s.filter(|_| view.level.tasks.is_none())?;
    let queues = view.signals(&SignalRole::ServerPending.signals()).into_iter();
    let queues = queues.filter_map(|signal| Some((signal, series::mean(view.level, signal)?)));
    let (signal, pending) = queues.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let share = view.share_of_waiting(pending);
    if share < COUNTED_MIN || share * mean_s < WAIT_S_MIN {
        return None;
    }
    // What is accepted is at work, as far as nothing else has it.
    let accepted = (signal.name.id() == Some(SignalId::ListenerQueue))
        .then(|| (view.level.in_flight() - pending).round().max(1.0));
    let at_once = of_server(view, signal, SignalId::ServerThreadsLimit)
        .or_else(|| of_server(view, signal, SignalId::ServerThreads))
        .or(accepted);
    let claim = Claim::QueuedInFront {
        service: series::place(signal).to_owned(),
        at_once: at_once.unwrap_or(0.0),
        through_per_s: view.level.requests_per_s(),
        waiting_share: share,
    };
    at_once.map(|at_once| Hypothesis {
        explains: Some(share),
        numbers: vec![
            exact(FigureName::PendingRequests, pending, Unit::Count).noted(Note::MeanOfRun),
            exact(FigureName::RequestTimeShare, share * 100.0, Unit::Percent),
            exact(FigureName::AtOnce, at_once, Unit::Count),
            exact(FigureName::InFlight, view.level.in_flight(), Unit::Count),
        ],
        queries: vec![view.query(signal)],
        prediction: view.with_slots(share, SlotKind::Workers, at_once),
        ..hypothesis(view, claim, series::place(signal), None)
    })
}

/// Returns the peak of another signal of the same server.
fn of_server(view: &View<'_>, signal: &Signal, id: SignalId) -> Option<f64> {
    let all = view.signals(&[id]).into_iter();
    let own = all.filter(|it| it.source == signal.source && it.labels == signal.labels);
    own.filter_map(|it| series::peak(view.level, it)).reduce(f64::max)
}

/// Finds a server of which all threads or processes work all the time, by its own metrics, while far more requests are in flight.
fn taken(view: &View<'_>) -> Option<Hypothesis> {
    let mean_s = view.level.requests.mean_s.filter(|_| view.level.tasks.is_none())?;
    let in_flight = view.level.in_flight();
    let servers = view.signals(&[SignalId::ServerThreads]).into_iter().filter_map(|signal| {
        let (busy, limit) =
            (series::mean(view.level, signal)?, of_server(view, signal, SignalId::ServerThreadsLimit)?);
        // A server that counts its queue has said how many wait.
        let counts = of_server(view, signal, SignalId::ServerPending).is_some();
        (!counts && busy >= limit * TAKEN_MIN && limit >= 1.0).then_some((signal, busy, limit))
    });
    let (signal, busy, limit) = servers.min_by(|a, b| a.2.total_cmp(&b.2))?;
    let share = view.share_of_waiting(in_flight - limit);
    if share < SHARE_MIN || share * mean_s < WAIT_S_MIN {
        return None;
    }
    let claim = Claim::QueuedInFront {
        service: series::place(signal).to_owned(),
        at_once: limit,
        through_per_s: view.level.requests_per_s(),
        waiting_share: share,
    };
    Some(Hypothesis {
        explains: Some(share),
        numbers: vec![
            exact(FigureName::AtOnce, busy, Unit::Count).noted(Note::MeanOfRun),
            exact(FigureName::RequestTimeShare, share * 100.0, Unit::Percent),
            exact(FigureName::InFlight, in_flight, Unit::Count),
        ],
        queries: vec![view.query(signal)],
        prediction: view.with_slots(share, SlotKind::Workers, limit),
        ..hypothesis(view, claim, series::place(signal), None)
    })
}

/// Finds a rate limit in front of a service: requests spend their time before the first span, and begin at even intervals.
fn paced(view: &View<'_>) -> Option<Hypothesis> {
    let mean_s = view.level.requests.mean_s.filter(|_| view.level.tasks.is_none())?;
    let share = view.share_outside();
    // A planned load begins its requests at even intervals itself.
    let is_planned = view.level.closed_vus.is_none();
    if is_planned || view.paths.is_biased || share < OUTSIDE_MIN || share * mean_s < WAIT_S_MIN {
        return None;
    }
    let paces = view
        .paths
        .entries
        .iter()
        .filter_map(|(service, spans)| Some((service, concurrency::pace(spans, view.weight())?)));
    let (service, per_s) = paces.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let claim = Claim::PacedInFront { service: service.to_string(), per_s, waiting_share: share };
    Some(Hypothesis {
        strength: Strength::Statistics,
        explains: Some(share),
        numbers: vec![
            exact(FigureName::QueueWait, share * mean_s, Unit::Seconds),
            exact(FigureName::RequestTimeShare, share * 100.0, Unit::Percent),
            exact(FigureName::Throughput, per_s, Unit::PerSecond),
        ],
        cost: CostClass::Setting,
        prediction: view.without(share, Change::NoRateLimit),
        ..draft(claim, Remedy::RaiseRateLimit, service.to_string())
    })
}

/// Finds a plateau: more requests are in flight than at the lowest load, and throughput is the same.
fn plateau(view: &View<'_>) -> Option<Hypothesis> {
    let (low, low_paths) = (view.low?, view.low_paths.as_ref()?);
    let (under_way, through) = (view.level.in_flight(), view.level.throughput_per_s());
    let more = under_way / low.in_flight().max(f64::MIN_POSITIVE);
    let gain = through / low.throughput_per_s().max(f64::MIN_POSITIVE) - 1.0;
    if view.grows() != Some(true) || more < GROWTH_MIN || gain > GAIN_MAX * (more - 1.0) {
        return None;
    }
    let (key, step, share) = grown(view)?;
    let before_s = low_paths.steps.get(key).map_or(0.0, Step::mean_s);
    let at_once =
        before_s.min(step.mean_s()) * step.spans as f64 * view.weight() / view.level.length_s().max(1.0);
    let prediction = match in_front(view, key) {
        Some(front) => Some(unchanged(view, &key.service, &front)),
        None => view.without(share * (1.0 - before_s / step.mean_s()), Change::EnoughWorkers),
    };
    let claim = Claim::Plateau {
        service: key.service.to_string(),
        operation: key.operation.to_string(),
        in_flight: under_way,
        low_in_flight: low.in_flight(),
        through_per_s: through,
        low_through_per_s: low.throughput_per_s(),
        time_share: share,
    };
    Some(Hypothesis {
        explains: Some(share),
        numbers: vec![
            exact(FigureName::InFlight, under_way, Unit::Count).noted(Note::CountAtLow(low.in_flight())),
            exact(FigureName::Throughput, through, Unit::PerSecond)
                .noted(Note::RateAtLow(low.throughput_per_s())),
            exact(FigureName::OperationTime, step.mean_s(), Unit::Seconds)
                .noted(Note::SecondsAtLow(before_s)),
            exact(FigureName::AtOnce, at_once, Unit::Count),
        ],
        exemplars: view.exemplars(&step.slowest),
        prediction,
        ..hypothesis(view, claim, &key.service, None)
    })
}

fn hypothesis(view: &View<'_>, claim: Claim, service: &str, read: Option<(Arc<str>, f64)>) -> Hypothesis {
    let cacheable = read.map(|(operation, demand)| (operation.to_string(), demand));
    let remedy = Remedy::AddWorkers { service: service.to_owned(), cacheable };
    Hypothesis {
        strength: Strength::Arithmetic,
        flags: super::biased(view),
        caveats: vec![Caveat::WorkersUnknown],
        cost: CostClass::Setting,
        ..draft(claim, remedy, service)
    }
}

/// Returns the time on critical paths in which a service works and does not wait, nanoseconds.
fn works_ns(paths: &Paths, service: &str) -> f64 {
    let own = paths.steps.iter().filter(|(key, step)| &*key.service == service && !step.role.is_wait());
    own.map(|(_, step)| step.own_ns).sum()
}

/// Returns the read with most of a service's work, if caching it would free a large share.
fn kept(view: &View<'_>, service: &Arc<str>) -> Option<(Arc<str>, Share)> {
    let reads = view.paths.steps.iter().filter(|(key, step)| key.service == *service && step.is_database);
    let (key, step) = reads.max_by(|a, b| a.1.total_ns.total_cmp(&b.1.total_ns))?;
    let share = Share::new(view, key, step);
    (share.demand >= DEMAND_MIN).then(|| (key.operation.clone(), share))
}

/// Returns the operation that explains most of the growth since the lowest load.
fn grown<'a>(view: &'a View<'_>) -> Option<(&'a StepKey, &'a Step, f64)> {
    let steps = view.paths.steps.iter().filter(|(key, _)| key.kind != SpanKind::Client);
    let shares = steps.map(|(key, step)| (key, step, view.explained_by(key, step)));
    shares.max_by(|a, b| a.2.total_cmp(&b.2)).filter(|(.., share)| *share >= SHARE_MIN)
}

/// Returns the caller that does hardly anything but call the service; more instances of it would not help.
fn in_front(view: &View<'_>, key: &StepKey) -> Option<Arc<str>> {
    let services = view.paths.steps.iter().filter(|(other, step)| {
        other.kind == SpanKind::Server && other.service != key.service && step.parents > 0
    });
    let passing =
        services.filter(|(other, _)| view.share_of_paths(works_ns(&view.paths, &other.service)) <= OWN_MAX);
    passing.max_by_key(|(_, step)| step.spans).map(|(other, _)| other.service.clone())
}

/// Predicts that another instance of the caller in front changes nothing, since the caller is not the bottleneck.
fn unchanged(view: &View<'_>, service: &str, front: &str) -> Prediction {
    let through = view.level.throughput_per_s();
    let (least, most) = (through * (1.0 - BETWEEN_RUNS), through * (1.0 + BETWEEN_RUNS));
    let name = FigureName::Throughput;
    Prediction {
        change: Change::MoreProxies { service: front.to_owned() },
        now: Some(Measured::exact(name.clone(), through, Unit::PerSecond)),
        then: Some(Measured::within(name, through, Unit::PerSecond, (least, most))),
        next_limit: NextLimit::Unchanged { service: service.to_owned() },
        wrong_if: Refutation::ThroughputAbove { per_s: most },
        command: view.level.command.clone(),
    }
}

#[cfg(test)]
mod tests {
    use model::diagnosis::{FaultKind, Outcome};

    use super::super::super::case::{Case, Level};
    use super::super::super::testing::{flat, level, request, sampled, span, with_evidence};
    use super::super::super::{diagnose, testing};
    use super::*;

    #[test]
    fn requests_that_a_server_counts_as_waiting_wait_for_its_workers() {
        let case = |pending: f64| {
            let of = |name: &str, value: f64| flat(name, &[("pool", "www")], 20, value);
            let mut level = observed(20, 0.8, 20.0);
            level.evidence.signals.extend([
                of("server_pending", pending),
                of("server_threads", 2.0),
                of("server_threads_limit", 2.0),
            ]);
            diagnose(&Case { levels: vec![level] })
        };
        let found = case(14.0);
        assert_eq!(found.outcome, Outcome::Limited, "{:?}", found.findings);
        let one = &found.findings[0];
        assert_eq!((one.fault(), one.place.as_str()), (FaultKind::TooFewWorkers, "www"));
        let Claim::QueuedInFront { at_once, .. } = one.claim else { panic!("{:?}", one.claim) };
        assert_eq!(at_once, 2.0);
        assert!(case(0.5).findings.is_empty());
    }

    #[test]
    fn connections_that_a_program_does_not_accept_wait_for_its_workers() {
        let case = |queued: f64| {
            let mut level = observed(20, 0.8, 20.0);
            level.evidence.signals.push(flat("listener_queue", &[("program", "puma:9292")], 20, queued));
            diagnose(&Case { levels: vec![level] })
        };
        let found = case(15.0);
        assert_eq!(found.outcome, Outcome::Limited, "{:?}", found.findings);
        let Claim::QueuedInFront { at_once, waiting_share, .. } = found.findings[0].claim else {
            panic!("{:?}", found.findings)
        };
        assert_eq!((found.findings[0].place.as_str(), at_once), ("puma:9292", 1.0));
        assert!((waiting_share - 15.0 / 16.0).abs() < 0.01, "{waiting_share}");
        assert!(case(0.4).findings.is_empty());
    }

    #[test]
    fn a_server_whose_processes_are_all_taken_has_a_queue_in_front() {
        let case = |busy: f64| {
            let of = |name: &str, value: f64| flat(name, &[("server", "httpd")], 20, value);
            let mut level = observed(20, 0.8, 20.0);
            level.evidence.signals.extend([of("server_threads", busy), of("server_threads_limit", 4.0)]);
            diagnose(&Case { levels: vec![level] })
        };
        let found = case(3.9);
        assert_eq!(found.outcome, Outcome::Limited, "{:?}", found.findings);
        let Claim::QueuedInFront { at_once, waiting_share, .. } = found.findings[0].claim else {
            panic!("{:?}", found.findings)
        };
        assert_eq!(at_once, 4.0);
        // Sixteen requests are in flight, by Little's law.
        assert!((waiting_share - 0.75).abs() < 0.01, "{waiting_share}");
        assert!(case(3.0).findings.is_empty());
    }

    #[test]
    fn requests_that_wait_for_a_worker_inside_their_span_have_too_few_of_them() {
        let case = |slots: usize, waits_ms: f64| {
            let build = |start_ms: f64| {
                let mut spans = request("shop", "GET /report", waits_ms + 40.0, &[]);
                let work = span(2, 1, "shop", "report", waits_ms, 40.0);
                spans.push(work);
                spans.iter_mut().for_each(|span| span.start_ns += ((start_ms - waits_ms) * 1e6) as i64);
                spans
            };
            let traces = super::super::super::testing::in_slots(slots, 1000, 40.0, build);
            let core = flat("core_cpu", &[("core", "1")], 20, 0.2);
            let level = Level { traces, ..level(20, 50, (waits_ms + 40.0) / 1e3) };
            diagnose(&Case { levels: vec![with_evidence(level, vec![core], Vec::new())] })
        };
        let found = case(2, 440.0);
        let Some(Claim::QueuedInFront { at_once, .. }) = found.findings.first().map(|one| &one.claim) else {
            panic!("{:?}", found.findings)
        };
        assert_eq!(*at_once, 2.0);
        assert!(case(2, 1.0).findings.is_empty());
        assert!(case(1, 440.0).findings.iter().all(|one| one.fault() != FaultKind::TooFewWorkers), "a lock");
    }

    fn observed(rate: u64, mean_s: f64, users: f64) -> Level {
        let core = flat("core_cpu", &[("core", "1")], 20, 0.2);
        Level { closed_vus: Some(users), ..with_evidence(level(20, rate, mean_s), vec![core], Vec::new()) }
    }

    #[test]
    fn who_waits_for_a_worker_most_of_the_time_has_too_few_of_them() {
        let case = |waits_ms: f64, name: &str| {
            let length_ms = waits_ms + 10.0;
            let trace = |number| {
                let read = [("read from the store", waits_ms, 2.5)];
                let mut spans = request("feed", "GET /feed", length_ms, &read);
                spans.push(span(9, 1, "feed", name, 0.0, waits_ms));
                sampled(number, spans)
            };
            let traces = (0..100).map(trace).collect();
            let mut level = Level { traces, ..observed(100, length_ms / 1e3, 40.0) };
            level.requests.mean_s = Some(length_ms / 1e3);
            diagnose(&Case { levels: vec![level] })
        };
        let found = case(190.0, "wait for the worker");
        assert_eq!(found.outcome, Outcome::Limited);
        let one = &found.findings[0];
        assert_eq!((one.fault(), one.place.as_str()), (FaultKind::TooFewWorkers, "feed"));
        // A hundred per second, each with 10 ms of work.
        let Claim::WorkersBusy { at_once, .. } = one.claim else { panic!("{:?}", one.claim) };
        assert_eq!(at_once.round(), 1.0);
        let prediction = one.prediction.as_ref().expect("a prediction");
        assert_eq!(prediction.change, Change::AnswerCached { operation: "read from the store".to_owned() });
        let then = prediction.then.as_ref().expect("a rate");
        let (least, most) = then.interval.expect("an interval");
        // A quarter less work: 133 per second, or less where users think.
        assert!(least > 95.0 && least < 114.0 && most > 133.0 && most < 160.0, "{least} {most}");
        assert!(case(5.0, "wait for the worker").findings.is_empty());
        assert!(case(190.0, "wait for the key").findings.is_empty(), "another's");
    }

    /// A backend with eight workers behind proxies.
    fn behind(users: f64, rate: u64, slot_ms: f64) -> Level {
        let length_ms = slot_ms + 1.0;
        let trace = |number| {
            let mut spans = request("proxy", "pass on", length_ms, &[]);
            let mut below = testing::request("backend", "GET /items", slot_ms, &[]);
            below[0].id = 7;
            below[0].parent = Some(1);
            below[0].service = "backend".into();
            spans.extend(below);
            sampled(number, spans)
        };
        let traces = (0..50).map(trace).collect();
        Level { traces, ..observed(rate, length_ms / 1e3, users) }
    }

    #[test]
    fn where_more_come_and_no_more_goes_through_the_end_is_reached() {
        let found = diagnose(&Case { levels: vec![behind(8.0, 400, 19.0), behind(60.0, 416, 143.0)] });
        assert_eq!(found.outcome, Outcome::Limited);
        let one = &found.findings[0];
        assert_eq!((one.fault(), one.place.as_str()), (FaultKind::TooFewWorkers, "backend"));
        let prediction = one.prediction.as_ref().expect("a prediction");
        assert_eq!(prediction.change, Change::MoreProxies { service: "proxy".to_owned() });
        assert_eq!(prediction.then.as_ref().map(|it| it.value.round()), Some(416.0));
    }

    #[test]
    fn where_more_goes_through_no_end_is_reached() {
        let found = diagnose(&Case { levels: vec![behind(8.0, 200, 19.0), behind(16.0, 390, 30.0)] });
        assert!(found.findings.is_empty(), "{:?}", found.findings);
    }

    #[test]
    fn requests_that_queue_in_front_of_a_service_wait_for_its_workers() {
        let case = |slots: usize, mean_s: f64| {
            let build = |start_ms: f64| {
                let mut spans = request("shop", "GET /", 48.0, &[]);
                spans[0].start_ns += (start_ms * 1e6) as i64;
                spans
            };
            let traces = testing::in_slots(slots, 400 * slots as u128, 48.5, build);
            let level = Level { traces, ..observed(20 * slots as u64, mean_s, 24.0) };
            diagnose(&Case { levels: vec![level] })
        };
        for slots in [1, 3] {
            let found = case(slots, 1.2);
            assert_eq!(found.outcome, Outcome::Limited);
            let one = &found.findings[0];
            assert_eq!((one.fault(), one.place.as_str()), (FaultKind::TooFewWorkers, "shop"));
            let Claim::QueuedInFront { at_once, .. } = one.claim else { panic!("{:?}", one.claim) };
            assert_eq!(at_once, slots as f64);
        }
        assert!(case(1, 0.05).findings.is_empty(), "no request waits");
    }
}
