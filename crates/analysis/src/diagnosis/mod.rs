//! The bottleneck of a system, with its numbers, the suspects that were ruled out, and a prediction that can fail.
//!
//! Under a rising load every metric moves, so movement alone shows nothing. Detectors rest on the demand of a request on a resource,
//! on resources at their limit, on queueing (by Little's law, the mean number of waiting requests over those in flight is their share
//! of the time), and on the critical paths of traces. Findings are ordered by the share of the time that they explain and by the
//! strength of the evidence; a consequence comes after its cause.
//!
//! Where no resource is at a limit, the outcome is that; where evidence is missing, it names the evidence to connect. Everything here
//! is data: the crate `words` has the sentences, and `thresholds` has the numbers that detectors compare with.

mod case;
mod case_view;
mod ceilings;
mod concurrency;
mod demand;
mod detectors;
mod observation;
mod own_traces;
mod paths;
mod prediction;
pub(crate) mod series;
mod sessions;
mod stalls;
mod thresholds;
mod times;

#[cfg(test)]
pub(crate) mod testing;

use std::collections::BTreeSet;

use model::diagnosis::{
    Admission, Caveat, Claim, DetectorId, DiagnosedRun, Hypothesis, Inconclusive, MissingKind, Outcome, Role,
    RuledOut,
};
use model::{Diagnosis, Fault, Grade, Reason, SignalId, Strength};

pub use case::{Case, Level, Requests, Second, Tasks};
use case_view::View;
use detectors::{DETECTORS, LAST, share_saturated};
use observation::{Depth, Observation};
pub(crate) use own_traces::own_traces;
use thresholds::cpu::PROGRAM_MIN;
use thresholds::outcome::{
    CYCLE_MIN, EXPLAINS_S_MIN, EXPLAINS_UNKNOWN, HELD_S_MIN, OVERLAP_MIN, ROOM_MAX, SERVED_MIN, TRACED_MIN,
    UNACCOUNTED_MIN, UNTRACED_S_MIN, WAITS_MIN,
};

use crate::traces::Component;

/// Findings that are listed.
const FINDINGS_MAX: usize = 10;

/// Suspects that are listed as ruled out.
const RULED_OUT_MAX: usize = 30;

/// Detectors of stalled services.
const STALLED_SERVICE: [DetectorId; 2] = [DetectorId::Throttling, DetectorId::Pauses];

/// Detectors of waits inside a service, which last longer while a processor is busy.
const INTERNAL_WAITS: [DetectorId; 2] = [DetectorId::Pool, DetectorId::Workers];

/// Faults of a measurement that the load generator causes.
const OF_GENERATOR: &[Fault] = &[
    Fault::StartLag,
    Fault::DroppedByGenerator,
    Fault::WorkerCpu,
    Fault::Throttled,
    Fault::RunDelay,
    Fault::Steal,
    Fault::TimerLag,
    Fault::Exhausted,
    Fault::Ports,
    Fault::Descriptors,
];

/// Of these, the faults in which the load generator waits for a core that others use. They delay what it sends and receives, and do not
/// change the load of a closed workload.
const OF_NEIGHBOURS: &[Fault] = &[Fault::RunDelay, Fault::TimerLag];

/// Diagnoses the runs of a test, given by ascending load.
pub fn diagnose(case: &Case) -> Diagnosis {
    let Some(view) = View::new(case) else { return nothing(case, Inconclusive::NoRun) };
    if view.level.requests.count == 0 {
        return nothing(case, Inconclusive::NoRequests);
    }
    let mut observed = Observations::default();
    for detect in DETECTORS {
        detect(&view).into_iter().for_each(|observations| observed.add(observations));
    }
    let (held, saturated) = (view.share_held(), share_saturated(&view));
    observed.demote_unfelt(view.level);
    observed.rank(held, saturated);
    if observed.limits().is_none() {
        LAST.iter().flat_map(|detect| detect(&view)).for_each(|observations| observed.add(observations));
        observed.demote_unfelt(view.level);
        observed.rank(held, saturated);
    }
    let outcome = outcome(&view, &mut observed);
    let wait = observed.limits().and_then(|limits| limits.claim.wait());
    let attribution = times::attribution(&view, wait);
    let findings_beyond = observed.found.len().saturating_sub(FINDINGS_MAX) as u64;
    observed.found.truncate(FINDINGS_MAX);
    observed.ruled_out.extend(generator_ruled_out(&view));
    observed.ruled_out.truncate(RULED_OUT_MAX);
    Diagnosis {
        runs: case.levels.iter().map(run).collect(),
        attribution,
        time_uses: times::tasks(&view),
        findings: observed.found.into_iter().map(|(hypothesis, _)| *hypothesis).collect(),
        findings_beyond,
        ruled_out: observed.ruled_out,
        missing: match &outcome {
            Outcome::CannotTell { missing, .. } => missing.clone(),
            _ => observed.missing.into_iter().collect(),
        },
        caveats: caveats(&view, &outcome),
        outcome,
    }
}

/// The observations of all detectors.
#[derive(Default)]
struct Observations {
    found: Vec<(Box<Hypothesis>, Depth)>,
    ruled_out: Vec<RuledOut>,
    missing: BTreeSet<MissingKind>,
}

impl Observations {
    fn add(&mut self, observations: Observation) {
        match observations {
            Observation::Found(hypothesis, depth) => self.found.push((hypothesis, depth)),
            Observation::RuledOut(ruled_out) => self.ruled_out.push(ruled_out),
            Observation::Missing(missing) => {
                self.missing.insert(missing);
            }
        }
    }

    /// Demotes findings that explain less time than anyone notices, unless a threshold of the script failed: every request spends its
    /// time somewhere, and a system that responds at once has no bottleneck for it. In a closed loop, a large part of a cycle limits
    /// throughput however short it is.
    fn demote_unfelt(&mut self, level: &Level) {
        let Some(mean_s) = level.mean_s().filter(|_| level.thresholds_failed.is_empty()) else { return };
        let part_of_cycle_s = level.cycle_s().map_or(f64::INFINITY, |cycle_s| cycle_s * CYCLE_MIN);
        let noticed_s = EXPLAINS_S_MIN.min(part_of_cycle_s);
        let is_unfelt =
            |hypothesis: &Hypothesis| hypothesis.explains.is_some_and(|share| share * mean_s < noticed_s);
        let limiting = self.found.iter_mut().filter(|(it, _)| it.role == Role::Limits && is_unfelt(it));
        limiting.for_each(|(it, _)| it.role = Role::Contributes);
    }

    /// Orders findings by the share that they explain; one of them limits, the others contribute. While a service is stalled for the
    /// share `held` of the time, every request waits, so waits explain nothing; while a processor is at its limit, for the share
    /// `saturated`, that holds for waits inside a service, as it does for the part of response time that stalls explain: a service
    /// that stands still gives no connection back, and its gauges are read when it goes on, at their highest.
    fn rank(&mut self, held: f64, saturated: f64) {
        let is_why = |hypothesis: &Hypothesis| STALLED_SERVICE.contains(&hypothesis.detector());
        let stalls = self.found.iter().filter(|(it, _)| is_why(it)).filter_map(|(it, _)| it.explains);
        let inside = stalls.fold(saturated, f64::max);
        let score = |(hypothesis, depth): &(Box<Hypothesis>, Depth)| {
            let for_inside = if INTERNAL_WAITS.contains(&hypothesis.detector()) { inside } else { 0.0 };
            let for_others = if is_why(hypothesis) { 0.0 } else { held.max(for_inside) };
            score(hypothesis, *depth) * (1.0 - for_others)
        };
        self.found.sort_by(|a, b| a.0.role.cmp(&b.0.role).then_with(|| score(b).total_cmp(&score(a))));
        for (hypothesis, _) in self.found.iter_mut().skip(1) {
            if hypothesis.role == Role::Limits {
                hypothesis.role = Role::Contributes;
            }
        }
    }

    fn limits(&self) -> Option<&Hypothesis> {
        self.found
            .first()
            .map(|(hypothesis, _)| &**hypothesis)
            .filter(|hypothesis| hypothesis.role == Role::Limits)
    }
}

/// Returns the weight of a finding in the order.
fn score(hypothesis: &Hypothesis, depth: Depth) -> f64 {
    let strength = match hypothesis.strength {
        Strength::Arithmetic | Strength::Limit => 1.0,
        Strength::Statistics => 0.85,
        Strength::Pattern => 0.7,
    };
    let depth = match depth {
        Depth::Cause => 1.0,
        Depth::Part => 0.6,
        Depth::Resource => 0.5,
    };
    hypothesis.explains.unwrap_or(EXPLAINS_UNKNOWN) * strength * depth
}

fn outcome(view: &View<'_>, observed: &mut Observations) -> Outcome {
    let level = view.level;
    // What makes the generator busy then is to fail at once, again and again.
    if observed.limits().is_some_and(is_unreachable) {
        return Outcome::Limited;
    }
    let fault = generator_fault(level);
    if let Some(fault) = fault.filter(|_| !is_beyond_generator(view, observed)) {
        // Slow responses may then be the generator's own.
        observed
            .found
            .iter_mut()
            .filter(|(it, _)| it.role == Role::Limits)
            .for_each(|(it, _)| it.role = Role::Contributes);
        return Outcome::Generator { fault };
    }
    if level.is_unobserved() {
        return Outcome::CannotTell { why: Inconclusive::NoEvidence, missing: most_useful() };
    }
    if observed.limits().is_some() {
        return Outcome::Limited;
    }
    let unexplained = unexplained(view);
    let has_nothing = [MissingKind::Traces, MissingKind::ServerProcessors]
        .iter()
        .all(|kind| observed.missing.contains(kind));
    if unexplained.is_some() || has_nothing {
        let mut missing: Vec<MissingKind> = observed.missing.iter().copied().collect();
        missing.extend(unexplained.is_some_and(is_inside).then(|| lacks_workers(view)).flatten());
        let why = unexplained.unwrap_or(Inconclusive::NoTracesAndProcessors);
        return Outcome::CannotTell { why, missing };
    }
    Outcome::NoServerBottleneck { growth: view.growth() }
}

/// Returns the first fault of the load generator that makes the measurement invalid.
fn generator_fault(level: &Level) -> Option<Fault> {
    let invalid = |reason: &&Reason| OF_GENERATOR.contains(&reason.fault) && reason.grade == Grade::Invalid;
    level.reasons.iter().find(invalid).filter(|_| level.grade == Grade::Invalid).map(|reason| reason.fault)
}

/// Whether the bottleneck explains more of response time than the load generator can have added: it waited for cores that the target's
/// own programs used, in a closed workload, and servers had the requests for longer than they were outside, by their own clocks. Waits
/// inside a service are no such bottleneck: those who hold connections wait for the same cores, and the work of the generator adds to that.
fn is_beyond_generator(view: &View<'_>, observed: &Observations) -> bool {
    let invalid = |reason: &&Reason| OF_GENERATOR.contains(&reason.fault) && reason.grade == Grade::Invalid;
    let is_neighbours =
        view.level.reasons.iter().filter(invalid).all(|reason| OF_NEIGHBOURS.contains(&reason.fault));
    let cores = view.signals(&[SignalId::CoreCpu]).len() as f64;
    let is_of_target =
        view.sum_of_means(&[SignalId::ListenerCpu]).is_some_and(|used| used >= cores * PROGRAM_MIN);
    let is_measured = view.paths.traces > 0 && !view.paths.is_biased && view.level.tasks.is_none();
    let served = view.share_traced();
    let is_larger = |found: &Hypothesis| {
        let is_slowed = INTERNAL_WAITS.contains(&found.detector());
        !is_slowed && served >= SERVED_MIN && found.explains.unwrap_or(served) > 1.0 - served
    };
    is_neighbours
        && is_of_target
        && is_measured
        && view.level.closed_vus.is_some()
        && observed.limits().is_some_and(is_larger)
}

/// Whether no request reaches the target.
fn is_unreachable(hypothesis: &Hypothesis) -> bool {
    matches!(hypothesis.claim, Claim::Refused { limit: Admission::Closed, .. })
}

/// Returns the response time that no evidence explains, where there is too much of it.
fn unexplained(view: &View<'_>) -> Option<Inconclusive> {
    if view.grows() == Some(true) {
        return Some(Inconclusive::Growth { times: view.growth().unwrap_or(0.0) });
    }
    let mean_s = view.level.requests.mean_s.filter(|_| view.level.tasks.is_none())?;
    let share = view.share_of_waits();
    if share >= WAITS_MIN && mean_s * share >= UNTRACED_S_MIN {
        return Some(Inconclusive::Queueing { share, mean_s });
    }
    let held = share_unaccounted(view, mean_s);
    if held >= UNACCOUNTED_MIN && mean_s * held >= HELD_S_MIN {
        return Some(Inconclusive::Unaccounted { share: held, mean_s });
    }
    // Without spans, requests that overlap may wait for each other, and only the time that processors work on them is explained.
    let in_flight = view.level.in_flight();
    let is_dark = view.paths.traces == 0 && in_flight >= OVERLAP_MIN && has_no_room(view);
    let dark_s = mean_s * (1.0 - view.share_computed(mean_s).unwrap_or(0.0));
    if is_dark && dark_s >= HELD_S_MIN && dark_s >= mean_s * UNACCOUNTED_MIN {
        return Some(Inconclusive::Untraced { outside_s: dark_s, mean_s });
    }
    let traced = view.share_traced();
    let outside_s = mean_s * (1.0 - traced);
    let is_outside = view.paths.traces > 0 && traced < TRACED_MIN && outside_s >= UNTRACED_S_MIN;
    is_outside.then_some(Inconclusive::Untraced { outside_s, mean_s })
}

/// Whether no server reports that it has threads left for the requests.
fn has_no_room(view: &View<'_>) -> bool {
    let used = view.sum_of_means(&[SignalId::ServerThreads]);
    let limit = view.sum_of_means(&[SignalId::ServerThreadsLimit]);
    !used.zip(limit).is_some_and(|(used, limit)| used <= limit * ROOM_MAX)
}

/// Returns the share of response time in which services hold a request, compute nothing for it, and wait for nothing that a span
/// shows: a lock that is held across a call, a sleep. Zero where no CPU use is known.
fn share_unaccounted(view: &View<'_>, mean_s: f64) -> f64 {
    let Some(computes) = view.share_computed(mean_s) else { return 0.0 };
    let held = view.share_of_paths(view.paths.attribution.part_ns(Component::Target) as f64);
    (held - view.share_of_waits() - computes).max(0.0)
}

/// Whether requests wait in a server, or in front of it.
fn is_inside(why: Inconclusive) -> bool {
    matches!(
        why,
        Inconclusive::Queueing { .. } | Inconclusive::Unaccounted { .. } | Inconclusive::Untraced { .. }
    )
}

/// Names the metrics of a server's workers, if no source has them.
fn lacks_workers(view: &View<'_>) -> Option<MissingKind> {
    let known = view.signals(&[SignalId::ServerThreads, SignalId::ServerPending]);
    known.is_empty().then_some(MissingKind::ServerWorkers)
}

/// Returns the evidence that shows most, the most useful first.
fn most_useful() -> Vec<MissingKind> {
    vec![MissingKind::Traces, MissingKind::ServerProcessors, MissingKind::DatabaseCounters]
}

fn generator_ruled_out(view: &View<'_>) -> Option<RuledOut> {
    (view.level.grade == Grade::Valid).then_some(RuledOut::LoadGenerator)
}

fn caveats(view: &View<'_>, outcome: &Outcome) -> Vec<Caveat> {
    let mut caveats = Vec::new();
    if view.low.is_none() {
        caveats.push(Caveat::OneRun);
    }
    if view.level.grade != Grade::Valid {
        caveats.push(Caveat::Measurement { grade: view.level.grade });
    }
    let is_despite = generator_fault(view.level).is_some()
        && *outcome == Outcome::Limited
        && view.share_traced() >= SERVED_MIN
        && view.paths.traces > 0;
    caveats.extend(is_despite.then(|| Caveat::GeneratorWaited { outside_share: view.share_outside() }));
    if view.paths.steps_beyond > 0 {
        caveats.push(Caveat::SpansBeyond { spans: view.paths.steps_beyond });
    }
    caveats
}

fn run(level: &Level) -> DiagnosedRun {
    DiagnosedRun {
        id: level.id.clone(),
        grade: level.grade,
        throughput_per_s: level.throughput_per_s(),
        mean_s: level.mean_s(),
        from: level.from(),
        to: level.to(),
    }
}

fn nothing(case: &Case, why: Inconclusive) -> Diagnosis {
    Diagnosis {
        outcome: Outcome::CannotTell { why, missing: Vec::new() },
        runs: case.levels.iter().map(run).collect(),
        attribution: None,
        time_uses: Vec::new(),
        findings: Vec::new(),
        findings_beyond: 0,
        ruled_out: Vec::new(),
        missing: Vec::new(),
        caveats: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use model::diagnosis::{FaultKind, Resource, ResourceKind, TimeBasis};
    use model::{Amount, Reason, Signal};

    use super::testing::{flat, level, request, sampled, with_evidence};
    use super::*;

    fn healthy() -> Level {
        let labels = [("pod", "a"), ("container", "shop")];
        let signals = vec![
            flat("container_cpu", &labels, 20, 0.3),
            flat("container_cpu_limit", &labels, 20, 1.0),
            flat("locks_waiting", &[], 20, 0.0),
        ];
        let below = [("select 1", 1.0, 3.0)];
        let traces = (0..100).map(|number| sampled(number, request("shop", "GET /", 6.0, &below)));
        Level { traces: traces.collect(), ..with_evidence(level(20, 100, 0.007), signals, Vec::new()) }
    }

    fn diagnose_levels(levels: Vec<Level>) -> Diagnosis {
        diagnose(&Case { levels })
    }

    #[test]
    fn what_is_well_has_no_bottleneck() {
        let found = diagnose_levels(vec![healthy()]);
        assert_eq!(
            (found.outcome, found.findings),
            (Outcome::NoServerBottleneck { growth: None }, Vec::new())
        );
        let shop = Resource { kind: ResourceKind::Cpu, place: "shop".to_owned() };
        let is_shop = |it: &RuledOut| matches!(it, RuledOut::Processor { resource, .. } if *resource == shop);
        assert!(found.ruled_out.iter().any(is_shop), "{:?}", found.ruled_out);
        assert!(found.ruled_out.contains(&RuledOut::RowLocks { sessions: 0.0 }), "{:?}", found.ruled_out);
        assert!(found.ruled_out.contains(&RuledOut::LoadGenerator));
    }

    #[test]
    fn a_finding_limits_if_its_time_is_noticed() {
        let of = |pod, value| Signal {
            unit: "/s".to_owned(),
            ..flat("server_requests", &[("pod", pod)], 20, value)
        };
        let role = |mean_s, closed_vus, thresholds_failed: &[&str]| {
            let thresholds_failed = thresholds_failed.iter().map(|&it| it.to_owned()).collect();
            let level = Level { closed_vus, thresholds_failed, ..level(20, 100, mean_s) };
            let found =
                diagnose_levels(vec![with_evidence(level, vec![of("a", 95.0), of("b", 5.0)], Vec::new())]);
            found.findings[0].role
        };
        assert_eq!(role(0.1, None, &[]), Role::Limits);
        assert_eq!(role(0.004, None, &[]), Role::Contributes);
        assert_eq!(role(0.004, None, &["p(95)<2"]), Role::Limits);
        assert_eq!(role(0.004, Some(5.0), &[]), Role::Contributes, "2 of 50 ms");
        assert_eq!(role(0.004, Some(0.5), &[]), Role::Limits, "2 of 5 ms");
    }

    #[test]
    fn slow_overlapping_requests_without_spans_need_room_that_a_server_reports() {
        let outcome = |mean_s: f64, busy: Option<f64>| {
            let mut signals = vec![flat("core_cpu", &[("core", "0")], 20, 0.2)];
            for (name, value) in [("server_threads", busy), ("server_threads_limit", busy.map(|_| 16.0))] {
                signals.extend(value.map(|value| flat(name, &[("pool", "www")], 20, value)));
            }
            diagnose_levels(vec![with_evidence(level(20, 8, mean_s), signals, Vec::new())]).outcome
        };
        let is_dark = |outcome: &Outcome| {
            matches!(outcome, Outcome::CannotTell { why: Inconclusive::Untraced { .. }, .. })
        };
        assert!(is_dark(&outcome(2.0, None)), "sixteen requests in flight");
        assert!(is_dark(&outcome(2.0, Some(16.0))), "and as many busy threads");
        assert!(!is_dark(&outcome(2.0, Some(8.0))), "half of the threads are free");
        assert!(!is_dark(&outcome(0.1, None)), "one request at a time waits for no other");
    }

    #[test]
    fn without_evidence_nobody_can_tell() {
        let found = diagnose_levels(vec![level(20, 100, 0.5)]);
        let Outcome::CannotTell { missing, why: Inconclusive::NoEvidence } = &found.outcome else {
            panic!("{:?}", found.outcome)
        };
        assert_eq!(missing[0], MissingKind::Traces);
        assert!(found.findings.is_empty());
        assert!(matches!(diagnose_levels(Vec::new()).outcome, Outcome::CannotTell { .. }));
    }

    #[test]
    fn what_grows_and_is_not_at_a_limit_is_not_understood() {
        let mut high = healthy();
        high.requests.mean_s = Some(0.007 * 3.0);
        let found = diagnose_levels(vec![healthy(), high]);
        let Outcome::CannotTell { why: Inconclusive::Growth { times }, .. } = found.outcome else {
            panic!("{:?}", found.outcome)
        };
        assert!((times - 3.0).abs() < 1e-9, "{times}");
    }

    #[test]
    fn who_waits_for_a_turn_all_the_time_is_not_well() {
        let trace = |number| {
            let mut spans = request("feed", "GET /feed", 100.0, &[]);
            spans.push(super::testing::span(9, 1, "feed", "wait for the permit", 0.0, 95.0));
            sampled(number, spans)
        };
        let traces = (0..100).map(trace).collect();
        let found =
            diagnose_levels(vec![Level { traces, requests: level(20, 100, 0.101).requests, ..healthy() }]);
        let is_queueing =
            matches!(found.outcome, Outcome::CannotTell { why: Inconclusive::Queueing { .. }, .. });
        assert!(is_queueing, "{:?}", found.outcome);
    }

    /// A mutex that is held across a call: a service at 12 % of a core has most of the time, and no span shows a wait.
    #[test]
    fn a_service_that_holds_requests_without_computing_is_not_well() {
        let case = |cores: f64| {
            let traces = (0..100)
                .map(|number| sampled(number, request("shop", "GET /", 200.0, &[("select 1", 190.0, 9.0)])));
            let signals = vec![flat("process_cpu", &[("job", "shop")], 20, cores)];
            diagnose_levels(vec![Level {
                traces: traces.collect(),
                ..with_evidence(level(20, 10, 0.202), signals, Vec::new())
            }])
            .outcome
        };
        let Outcome::CannotTell { why: Inconclusive::Unaccounted { share, .. }, missing } = case(0.12) else {
            panic!("{:?}", case(0.12))
        };
        assert!((share - 0.886).abs() < 0.01, "{share}");
        let (has, lacks) = (MissingKind::Traces, MissingKind::ServerWorkers);
        assert!(!missing.contains(&has) && missing.contains(&lacks), "{missing:?}");
        assert_eq!(case(1.8), Outcome::NoServerBottleneck { growth: None });
    }

    #[test]
    fn the_generator_is_said_before_the_target() {
        let reason = Reason {
            fault: Fault::WorkerCpu,
            grade: Grade::Invalid,
            observed: Amount::Share(0.99),
            limit: Amount::Share(0.9),
            windows: Vec::new(),
        };
        let level = Level { grade: Grade::Invalid, reasons: vec![reason], ..healthy() };
        assert_eq!(
            diagnose_levels(vec![level.clone()]).outcome,
            Outcome::Generator { fault: Fault::WorkerCpu }
        );
        let refused = [(model::diagnosis::Refusal::Connection, level.requests.count)].into();
        let requests = Requests { refused, ..level.requests.clone() };
        let found = diagnose_levels(vec![Level { requests, traces: Vec::new(), ..level }]);
        assert_eq!(found.outcome, Outcome::Limited, "a target that takes no connection is the limit");
    }

    /// A target at its CPU limit beside the generator, in requests of 70 ms of which servers had `served_ms`.
    #[test]
    fn a_generator_that_waits_beside_a_busy_target_is_not_the_bottleneck() {
        let labels = [("pod", "a"), ("container", "shop")];
        let quota = [flat("container_cpu", &labels, 20, 0.97), flat("container_cpu_limit", &labels, 20, 1.0)];
        // Of the seven requests under way.
        let pool = [flat("pool_pending", &[("pool", "main")], 20, 5.0)];
        let outcome_of =
            |faults: &[Fault], served_ms: f64, closed_vus: Option<f64>, (used, core), full: &[_]| {
                let reason = |fault: &Fault| Reason {
                    fault: *fault,
                    grade: Grade::Invalid,
                    observed: Amount::Share(0.3),
                    limit: Amount::Share(0.2),
                    windows: Vec::new(),
                };
                let mut signals = vec![
                    flat("core_cpu", &[("core", "0")], 20, core),
                    flat("core_cpu", &[("core", "1")], 20, core),
                    flat("listener_cpu", &[("program", "shop:80")], 20, used),
                ];
                signals.extend_from_slice(full);
                let traces = (0..100).map(|number| sampled(number, request("shop", "GET /", served_ms, &[])));
                let level = Level {
                    grade: Grade::Invalid,
                    reasons: faults.iter().map(reason).collect(),
                    closed_vus,
                    traces: traces.collect(),
                    ..with_evidence(level(20, 100, 0.07), signals, Vec::new())
                };
                let found = diagnose_levels(vec![level]);
                let caveat =
                    found.caveats.iter().any(|caveat| matches!(caveat, Caveat::GeneratorWaited { .. }));
                assert_eq!(caveat, found.outcome == Outcome::Limited);
                found.outcome
            };
        let outcome = |faults: &[Fault], served_ms, closed_vus| {
            outcome_of(faults, served_ms, closed_vus, (1.7, 0.95), &quota)
        };
        let waits = Fault::RunDelay;
        assert_eq!(outcome(&[waits], 52.0, Some(16.0)), Outcome::Limited);
        assert_eq!(outcome(&[waits, Fault::TimerLag], 52.0, Some(16.0)), Outcome::Limited);
        let generator = Outcome::Generator { fault: waits };
        assert_eq!(outcome(&[waits], 20.0, Some(16.0)), generator, "most of it may be the generator's");
        assert_eq!(outcome(&[waits], 52.0, None), generator, "a planned load came late");
        assert_eq!(outcome(&[waits, Fault::WorkerCpu], 52.0, Some(16.0)), generator);
        let beside = |served_ms, cores, full: &[_]| outcome_of(&[waits], served_ms, Some(16.0), cores, full);
        assert_eq!(beside(52.0, (0.3, 0.95), &quota), generator, "others use the cores");
        assert_eq!(beside(69.0, (1.2, 0.8), &pool), generator, "who holds a connection waits for a core");
    }

    #[test]
    fn what_waits_for_a_database_whose_core_is_busy_waits_for_the_core() {
        let case = |used| {
            let computing = [("wait_type", "CPU"), ("wait_event", "CPU")];
            let signals = vec![
                flat("core_cpu", &[("core", "1")], 20, used),
                flat("active_sessions", &computing, 20, 4.0),
                // Of the ten requests under way.
                flat("pool_pending", &[("pool", "main")], 20, 4.0),
            ];
            let found = diagnose_levels(vec![with_evidence(level(20, 100, 0.1), signals, Vec::new())]);
            found.findings.iter().map(Hypothesis::fault).collect::<Vec<_>>()
        };
        assert_eq!(case(0.98), [FaultKind::CpuSaturated, FaultKind::PoolExhausted]);
        assert_eq!(case(0.5), [FaultKind::PoolExhausted]);
    }

    #[test]
    fn what_waits_in_a_service_at_its_quota_waits_for_the_quota() {
        let labels = [("pod", "a"), ("container", "shop")];
        let case = |throttled| {
            let signals = vec![
                flat("container_throttled", &labels, 20, throttled),
                flat("container_throttled_time", &labels, 20, throttled * 0.4),
                // Of the ten requests under way.
                flat("pool_pending", &[("pool", "main")], 20, 8.0),
            ];
            let found = diagnose_levels(vec![with_evidence(level(20, 100, 0.1), signals, Vec::new())]);
            found.findings.iter().map(Hypothesis::fault).collect::<Vec<_>>()
        };
        assert_eq!(case(0.95), [FaultKind::CpuLimit, FaultKind::PoolExhausted]);
        assert_eq!(case(0.3), [FaultKind::PoolExhausted, FaultKind::CpuLimit]);
    }

    /// The gauge of a pool is read when a service goes on after a pause, when most requests wait.
    #[test]
    fn what_waits_in_a_service_that_pauses_waits_for_the_end_of_the_pause() {
        let case = |collecting| {
            let signals = vec![
                flat("jvm_gc_share", &[("pod", "a")], 20, collecting),
                // Of the ten requests under way.
                flat("pool_pending", &[("pool", "main")], 20, 8.0),
            ];
            let found = diagnose_levels(vec![with_evidence(level(20, 100, 0.1), signals, Vec::new())]);
            found.findings.iter().map(Hypothesis::fault).collect::<Vec<_>>()
        };
        assert_eq!(case(0.5), [FaultKind::StopTheWorld, FaultKind::PoolExhausted]);
        assert_eq!(case(0.2), [FaultKind::PoolExhausted, FaultKind::StopTheWorld]);
    }

    /// A seed's workers: four of one core each at 0.89, 0.58 CPU seconds a task, ceiling 421 a minute, and slots that were not full.
    #[test]
    fn the_seeds_scanner_is_limited_by_its_processors() {
        let mut signals = Vec::new();
        for pod in ["a", "b", "c", "d"] {
            let labels = [("pod", pod), ("container", "scan-worker")];
            signals.push(flat("container_cpu", &labels, 218, 0.91));
            signals.push(flat("container_cpu_limit", &labels, 218, 1.0));
        }
        let queue = [("queue", "scan.vision")];
        signals.push(flat("queue_ready", &queue, 218, 289.0));
        signals.push(flat("queue_unacked", &queue, 218, 69.0));
        signals.push(flat("queue_consumers", &queue, 218, 4.0));
        signals.push(flat("queue_prefetch", &queue, 218, 400.0));
        let mut level = with_evidence(level(218, 100, 0.3), signals, Vec::new());
        // 6.13 tasks a second, each with many polls.
        level.tasks = Some(Tasks { done: 1336, mean_s: Some(59.2), ..Tasks::default() });
        (level.slots, level.service_s) = (Some(400.0), Some(11.29));
        let found = diagnose_levels(vec![level]);
        let faults: Vec<FaultKind> = found.findings.iter().map(Hypothesis::fault).collect();
        assert!(faults.contains(&FaultKind::CpuLimit), "{faults:?}");
        let mut ruled_out = found.findings.iter().flat_map(|it| &it.ruled_out);
        let slots = ruled_out.find_map(|it| match it {
            RuledOut::WorkerSlots { busy, slots, .. } => Some((busy.round(), *slots)),
            _ => None,
        });
        assert_eq!(slots, Some((69.0, 400.0)));
        let time = &found.time_uses[0];
        assert!(time.parts_apart() < 0.02, "{time:?}");
        let TimeBasis::Queue { waiting, through_per_s } = time.ways[0].from else { panic!("{time:?}") };
        assert_eq!((waiting, (through_per_s * 100.0).round()), (289.0, 613.0));
        assert!((time.ways[0].waits_s.expect("a wait") - 47.1).abs() < 0.1, "{time:?}");
    }
}
