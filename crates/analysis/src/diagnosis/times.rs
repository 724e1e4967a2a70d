//! Attribution of response and task time to components. The parts add up to the measured time; up to three methods have to agree.

use model::diagnosis::{
    Activity, Caveat, StageName, TimeBasis, TimeMethod, TimePart, TimeUse, TimeWay, TimedUnit,
};
use model::{Kept, SignalId, SpanKind, Trace};

use super::case_view::{View, waits_ns};
use super::own_traces::own_traces;
use super::paths::{Asked, Paths};
use super::thresholds::times::{APART_MAX, ASKED_MIN, TOLD_S_MIN};
use crate::traces::{Attribution, Component, StageKind, stages};

/// Returns the time of requests per component; `None` without traces.
///
/// `wait` is what limits, if that is a wait: its place, and its share of response time. No span covers it, so that it is taken from the
/// part in which it is: between client and server, or inside a service.
pub(super) fn attribution(view: &View<'_>, wait: Option<(&str, f64)>) -> Option<TimeUse> {
    let paths = &view.paths;
    if paths.traces == 0 || view.level.tasks.is_some() {
        return None;
    }
    let measured_s = view.level.requests.mean_s;
    let parts_s = parts_s(paths, measured_s);
    let low =
        view.low_paths.as_ref().zip(view.low).map(|(paths, low)| self::parts_s(paths, low.requests.mean_s));
    let part = |(at, part): (usize, Component)| TimePart {
        name: StageName::Named(part.as_str().to_owned()),
        activity: match part {
            Component::Network | Component::Connecting | Component::Poll => Activity::Network,
            Component::Target | Component::Database | Component::External => Activity::Service,
            Component::Queue => Activity::Queued,
            Component::Unseen => Activity::Unattributed,
        },
        mean_s: parts_s[at],
        low_s: low.map(|low| low[at]),
    };
    let parts = Component::ALL.into_iter().enumerate().map(part);
    let parts = parts.flat_map(|part| waits_apart(view, part));
    let parts: Vec<TimePart> =
        parts.filter(|part| part.mean_s > 0.0 || part.low_s.is_some_and(|low_s| low_s > 0.0)).collect();
    let parts = match wait {
        Some((place, share)) => with_wait(parts, place, share),
        None => parts,
    };
    let mut caveats = super::detectors::biased(view);
    let asked = asked(paths);
    if asked.is_none() && measured_s.is_some_and(|measured_s| measured_s < paths.mean_s()) {
        caveats.push(Caveat::TracedAreSlower);
    }
    caveats.extend(asked.map(|_| Caveat::TwoClocks));
    Some(TimeUse {
        unit: TimedUnit::Request,
        count: asked.map_or(paths.traces, |asked| asked.traces),
        mean_s: parts_s.iter().sum(),
        measured_s,
        parts,
        ways: Vec::new(),
        disagreement: None,
        caveats,
    })
}

/// Takes a wait out of the part that has most of it, unless spans show it, so that it is apart already.
fn with_wait(mut parts: Vec<TimePart>, place: &str, share: f64) -> Vec<TimePart> {
    let all_s: f64 = parts.iter().map(|part| part.mean_s).sum();
    let seen_s: f64 =
        parts.iter().filter(|part| part.activity == Activity::Queued).map(|part| part.mean_s).sum();
    let [network, target] =
        [Component::Network, Component::Target].map(|it| StageName::Named(it.as_str().to_owned()));
    let has_wait =
        |part: &TimePart| part.activity != Activity::Queued && (part.name == network || part.name == target);
    let from = parts.iter().enumerate().filter(|(_, part)| has_wait(part));
    let Some((at, from)) = from.max_by(|a, b| a.1.mean_s.total_cmp(&b.1.mean_s)) else { return parts };
    let wait_s = (share * all_s - seen_s).min(from.mean_s);
    if wait_s < seen_s.max(TOLD_S_MIN) {
        return parts;
    }
    parts[at].mean_s -= wait_s;
    let name = StageName::Named(place.to_owned());
    parts.insert(at, TimePart { name, activity: Activity::Queued, mean_s: wait_s, low_s: None });
    parts
}

/// Returns the calls that only wait for a turn and are no work of the target.
fn waits_apart(view: &View<'_>, part: TimePart) -> Vec<TimePart> {
    let target = StageName::Named(Component::Target.as_str().to_owned());
    if part.name != target {
        return vec![part];
    }
    let waits_s =
        |paths: &Paths, all_s: f64| (waits_ns(paths) / paths.traces.max(1) as f64 / 1e9).clamp(0.0, all_s);
    let waiting_s = waits_s(&view.paths, part.mean_s);
    let low_waiting_s = view.low_paths.as_ref().zip(part.low_s).map(|(paths, low_s)| waits_s(paths, low_s));
    let works = TimePart {
        mean_s: part.mean_s - waiting_s,
        low_s: part.low_s.zip(low_waiting_s).map(|(low_s, waiting_s)| low_s - waiting_s),
        ..part.clone()
    };
    vec![TimePart { activity: Activity::Queued, mean_s: waiting_s, low_s: low_waiting_s, ..part }, works]
}

/// Returns the totals of traces that begin with a client span, if there are enough of them.
fn asked(paths: &Paths) -> Option<&Asked> {
    let asked = &paths.asked;
    (asked.traces > 0 && (asked.traces >= ASKED_MIN || asked.traces == paths.traces)).then_some(asked)
}

/// Returns the seconds of each part. Without client spans, measured time outside all traces counts as network time: from the client
/// to the first span and back.
fn parts_s(paths: &Paths, measured_s: Option<f64>) -> [f64; Component::ALL.len()] {
    let means_s = |attribution: &Attribution, traces: u64| {
        Component::ALL.map(|part| attribution.part_ns(part) as f64 / traces.max(1) as f64 / 1e9)
    };
    if let Some(asked) = asked(paths) {
        return means_s(&asked.attribution, asked.traces);
    }
    let mut parts_s = means_s(&paths.attribution, paths.traces);
    let traced_s: f64 = parts_s.iter().sum();
    parts_s[0] += (measured_s.unwrap_or(0.0) - traced_s).max(0.0);
    parts_s
}

/// Returns the attribution of task time; empty without tasks that passed queues.
pub(super) fn tasks(view: &View<'_>) -> Vec<TimeUse> {
    let is_task = |trace: &&Trace| trace.spans.iter().any(|span| span.kind == SpanKind::Consumer);
    let is_sampled = |trace: &&Trace| matches!(trace.kept, Kept::Sample { .. }) || view.paths.is_biased;
    let of = |level: &super::case::Level| {
        stages(own_traces(&level.traces).into_iter().filter(is_sampled).filter(is_task))
    };
    let table = of(view.level);
    let measured_s = view.level.tasks.as_ref().and_then(|tasks| tasks.mean_s);
    if table.traces == 0 {
        return measured_s.and_then(|measured_s| without_traces(view, measured_s)).into_iter().collect();
    }
    let low = view.low.map(of).filter(|table| table.traces > 0);
    let mut parts: Vec<TimePart> = table
        .stages
        .iter()
        .map(|stage| {
            let before = low.as_ref().and_then(|low| {
                low.stages.iter().find(|other| other.kind == stage.kind && other.name == stage.name)
            });
            TimePart {
                name: StageName::Named(stage.name.clone()),
                activity: match stage.kind {
                    StageKind::Queue => Activity::Queued,
                    StageKind::Work => Activity::Service,
                    StageKind::Submit | StageKind::Poll => Activity::Network,
                    StageKind::Between => Activity::Unattributed,
                },
                mean_s: stage.mean_ns / 1e9,
                low_s: before.map(|stage| stage.mean_ns / 1e9),
            }
        })
        .collect();
    let sum_of = |activity: Activity| {
        parts.iter().filter(|part| part.activity == activity).map(|part| part.mean_s).sum::<f64>()
    };
    let (waits_s, works_s) = (sum_of(Activity::Queued), sum_of(Activity::Service));
    let traced_s = table.mean_ns / 1e9;
    // No span covers the time from the end of the work to the poll that observes it.
    let rest_s = measured_s
        .map_or(sum_of(Activity::Unattributed), |measured_s| (measured_s - waits_s - works_s).max(0.0));
    if let Some(measured_s) = measured_s.filter(|measured_s| measured_s - traced_s >= TOLD_S_MIN) {
        parts.push(TimePart {
            name: StageName::Polling,
            activity: Activity::Network,
            mean_s: measured_s - traced_s,
            low_s: None,
        });
    }
    let apart =
        |sum_s: f64| measured_s.filter(|s| *s > 0.0).map(|measured_s| (sum_s / measured_s - 1.0).abs());
    let mut ways = vec![TimeWay {
        method: TimeMethod::Traces,
        from: TimeBasis::Traces { count: table.traces as u64 },
        waits_s: Some(waits_s),
        works_s: Some(works_s),
        rest_s: Some(rest_s),
        sum_s: waits_s + works_s + rest_s,
        apart: apart(traced_s),
    }];
    ways.extend(little(view, works_s, rest_s, measured_s));
    ways.extend(logs(view, measured_s));
    let disagreement = disagreement(&ways);
    let mut caveats = super::detectors::biased(view);
    let differs = disagreement.filter(|apart| *apart > APART_MAX);
    caveats.extend(differs.map(|difference_share| Caveat::WaitEstimatesDiffer { difference_share }));
    vec![TimeUse {
        unit: TimedUnit::Task,
        count: table.traces as u64,
        mean_s: parts.iter().map(|part| part.mean_s).sum(),
        measured_s,
        parts,
        ways,
        disagreement,
        caveats,
    }]
}

/// Returns the attribution from queue metrics and logs alone.
fn without_traces(view: &View<'_>, measured_s: f64) -> Option<TimeUse> {
    let works_s = view.level.service_s;
    let ways: Vec<TimeWay> = little(view, works_s.unwrap_or(0.0), 0.0, Some(measured_s))
        .into_iter()
        .chain(logs(view, Some(measured_s)))
        .collect();
    let waits_s = ways.first()?.waits_s?.min(measured_s);
    let works_s = works_s.unwrap_or(0.0).min(measured_s - waits_s);
    let part = |name, activity, mean_s| TimePart { name, activity, mean_s, low_s: None };
    let rest_s = measured_s - waits_s - works_s;
    let parts = vec![
        part(StageName::Queues, Activity::Queued, waits_s),
        part(StageName::Work, Activity::Service, works_s),
        part(StageName::Unattributed, Activity::Unattributed, rest_s),
    ];
    Some(TimeUse {
        unit: TimedUnit::Task,
        count: view.level.tasks.as_ref().map_or(0, |tasks| tasks.done),
        mean_s: measured_s,
        measured_s: Some(measured_s),
        parts: parts.into_iter().filter(|part| part.mean_s > 0.0).collect(),
        disagreement: disagreement(&ways),
        ways,
        caveats: vec![Caveat::StagesUnknown],
    })
}

/// Estimates queueing by Little's law: ready messages divided by throughput (J. D. C. Little, 1961).
fn little(view: &View<'_>, works_s: f64, rest_s: f64, measured_s: Option<f64>) -> Option<TimeWay> {
    let ready = view.sum_of_means(&[SignalId::QueueReady])?;
    let through = view.level.throughput_per_s();
    if through <= 0.0 {
        return None;
    }
    let waits_s = ready / through;
    let sum_s = waits_s + works_s + rest_s;
    Some(TimeWay {
        method: TimeMethod::Little,
        from: TimeBasis::Queue { waiting: ready, through_per_s: through },
        waits_s: Some(waits_s),
        works_s: (works_s > 0.0).then_some(works_s),
        rest_s: (rest_s > 0.0).then_some(rest_s),
        sum_s,
        apart: measured_s.filter(|s| *s > 0.0).map(|measured_s| (sum_s / measured_s - 1.0).abs()),
    })
}

/// Takes service times from logs or events; the remaining time is waiting.
fn logs(view: &View<'_>, measured_s: Option<f64>) -> Option<TimeWay> {
    let (works_s, measured_s) = (view.level.service_s?, measured_s?);
    Some(TimeWay {
        method: TimeMethod::Logs,
        from: TimeBasis::TaskTimes,
        waits_s: Some((measured_s - works_s).max(0.0)),
        works_s: Some(works_s),
        rest_s: None,
        sum_s: measured_s.max(works_s),
        // Waiting is the remainder, so the sum is correct by construction and confirms nothing.
        apart: None,
    })
}

fn disagreement(ways: &[TimeWay]) -> Option<f64> {
    let waits: Vec<f64> = ways.iter().filter_map(|way| way.waits_s).collect();
    let most = waits.iter().copied().fold(0.0, f64::max);
    let least = waits.iter().copied().fold(f64::INFINITY, f64::min);
    (waits.len() > 1 && most > 0.0).then(|| 1.0 - least / most)
}

#[cfg(test)]
mod tests {
    use model::Span;

    use super::super::case::{Case, Level, Tasks};
    use super::super::testing::{asked, flat, level, request, sampled, span, with_evidence};
    use super::*;

    /// A task of 4 s: submission, 2 s in a queue, 1.5 s of work, and the remainder until the next poll.
    fn task(number: u128) -> Trace {
        let submit = Span { kind: SpanKind::Server, ..span(1, 0, "api", "POST /scan", 0.0, 100.0) };
        let mut work =
            Span { kind: SpanKind::Consumer, ..span(2, 1, "worker", "process q", 2_100.0, 1_500.0) };
        work.attributes = vec![("messaging.destination.name".into(), "q".to_owned())];
        sampled(number, vec![submit, work])
    }

    fn tasks(ready: f64) -> Level {
        let signals = vec![flat("queue_ready", &[("queue", "q")], 10, ready)];
        Level {
            tasks: Some(Tasks { done: 50, mean_s: Some(4.0), ..Tasks::default() }),
            traces: (0..20).map(task).collect(),
            service_s: Some(1.5),
            ..with_evidence(level(10, 50, 0.01), signals, Vec::new())
        }
    }

    fn named(name: &str) -> StageName {
        StageName::Named(name.to_owned())
    }

    #[test]
    fn parts_add_up_to_what_was_measured() {
        let case = Case { levels: vec![tasks(10.0)] };
        let found = super::tasks(&View::new(&case).expect("a run"));
        let one = &found[0];
        assert!(one.parts_apart() < 0.02 && (one.mean_s - 4.0).abs() < 1e-9, "{one:?}");
        let found: Vec<_> = one.parts.iter().map(|part| (part.name.clone(), part.activity)).collect();
        let expect = [
            (named("POST /scan"), Activity::Service),
            (named("q"), Activity::Queued),
            (named("q"), Activity::Service),
            (StageName::Polling, Activity::Network),
        ];
        assert_eq!(found, expect);
    }

    #[test]
    fn three_ways_agree_or_say_that_they_do_not() {
        // Ten waiting messages at five per second are a wait of 2 s.
        let case = Case { levels: vec![tasks(10.0)] };
        let one = &super::tasks(&View::new(&case).expect("a run"))[0];
        let methods: Vec<_> = one.ways.iter().map(|way| way.method).collect();
        assert_eq!(methods, [TimeMethod::Traces, TimeMethod::Little, TimeMethod::Logs]);
        assert_eq!(
            (one.ways[0].waits_s, one.ways[1].waits_s, one.ways[2].waits_s),
            (Some(2.0), Some(2.0), Some(2.5))
        );
        assert_eq!(one.ways[1].from, TimeBasis::Queue { waiting: 10.0, through_per_s: 5.0 });
        let case = Case { levels: vec![tasks(30.0)] };
        let one = &super::tasks(&View::new(&case).expect("a run"))[0];
        assert!(one.disagreement.is_some_and(|apart| apart > 0.6) && !one.caveats.is_empty());
    }

    #[test]
    fn what_no_trace_tells_is_the_networks() {
        let mut level = level(10, 10, 0.15);
        let below = [("select 1", 10.0, 40.0)];
        level.traces =
            (0..20).map(|number| sampled(number, request("shop", "GET /", 100.0, &below))).collect();
        let case = Case { levels: vec![level] };
        let one = attribution(&View::new(&case).expect("a run"), None).expect("there are traces");
        let shown: Vec<_> =
            one.parts.iter().map(|part| (part.name.clone(), (part.mean_s * 1e3).round())).collect();
        assert_eq!(shown, [(named("network"), 50.0), (named("target"), 60.0), (named("database"), 40.0)]);
        assert!(one.parts_apart() < 1e-9 && one.measured_s == Some(0.15));
    }

    /// A queue in front of a service was called network, and a wait for a connection work, beside a finding that says otherwise.
    #[test]
    fn a_wait_that_no_span_shows_is_neither_network_nor_work() {
        let mut level = level(10, 10, 0.15);
        level.traces = (0..20).map(|number| sampled(number, request("shop", "GET /", 100.0, &[]))).collect();
        let case = Case { levels: vec![level] };
        let shown = |share| {
            let view = View::new(&case).expect("a run");
            let one = attribution(&view, Some(("shop", share))).expect("there are traces");
            assert!(one.parts_apart() < 1e-9, "{one:?}");
            one.parts.iter().map(|part| (part.activity, (part.mean_s * 1e3).round())).collect::<Vec<_>>()
        };
        let of = |network, waits, works| {
            vec![(Activity::Network, network), (Activity::Queued, waits), (Activity::Service, works)]
        };
        assert_eq!(shown(0.6), of(50.0, 90.0, 10.0), "inside the service");
        assert_eq!(shown(0.9), of(50.0, 100.0, 0.0), "no more than there is");
    }

    #[test]
    fn what_waits_for_a_turn_is_not_at_work() {
        let of = |number| {
            let mut spans = request("feed", "GET /feed", 100.0, &[]);
            spans.push(span(9, 1, "feed", "wait for the worker", 0.0, 90.0));
            sampled(number, spans)
        };
        let case = Case { levels: vec![Level { traces: (0..20).map(of).collect(), ..level(10, 10, 0.1) }] };
        let one = attribution(&View::new(&case).expect("a run"), None).expect("there are traces");
        let shown: Vec<_> =
            one.parts.iter().map(|part| (part.activity, (part.mean_s * 1e3).round())).collect();
        assert_eq!(shown, [(Activity::Queued, 90.0), (Activity::Service, 10.0)]);
    }

    #[test]
    fn what_clients_measured_is_divided_among_who_had_it() {
        let mut level = level(10, 10, 0.15);
        let below = [("select 1", 10.0, 40.0)];
        let of = |number| sampled(number, asked(112.0, request("shop", "GET /", 100.0, &below)));
        // Traces that servers start on their own are not requests of the run.
        let alone = |number| sampled(number, request("cron", "refresh", 900.0, &[]));
        level.traces = (0..20).map(of).chain((20..30).map(alone)).collect();
        let case = Case { levels: vec![level] };
        let one = attribution(&View::new(&case).expect("a run"), None).expect("there are traces");
        let shown: Vec<_> =
            one.parts.iter().map(|part| (part.name.clone(), (part.mean_s * 1e3).round())).collect();
        assert_eq!(shown, [(named("network"), 12.0), (named("target"), 60.0), (named("database"), 40.0)]);
        assert!(one.parts_apart() < 1e-9 && one.count == 20, "{one:?}");
        assert_eq!(one.caveats.last(), Some(&Caveat::TwoClocks));
    }
}
