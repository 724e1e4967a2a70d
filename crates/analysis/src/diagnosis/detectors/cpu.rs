//! A saturated processor: at its limit for most of the time while work waits. The demand of a request gives the throughput ceiling
//! (utilisation law; Denning and Buzen, 1978).
//!
//! Not: a processor that is busy below its limit, and use above the limit, which is a measurement error.

use model::diagnosis::{
    Caveat, Change, Claim, CostClass, FigureName, Hypothesis, Measured, MissingKind, NextLimit, Note,
    Prediction, Refutation, Remedy, ResourceKind, Role, RuledOut,
};
use model::signal::label;
use model::{SignalId, SignalRole, Strength, Unit};

use super::super::case_view::View;
use super::super::ceilings::{self, Resource};
use super::super::observation::{Depth, Observation, draft, exact};
use super::super::series;
use super::super::thresholds::ceilings::FULL;
use super::super::thresholds::cpu::{AT_LIMIT_MIN, IMPOSSIBLE, PROGRAM_MIN, QUEUED_MIN, WANTED_MIN};
use super::super::thresholds::prediction::OF_CEILING;

/// Resources that are processors.
const PROCESSORS: [ResourceKind; 6] = [
    ResourceKind::ProgramCpu,
    ResourceKind::Thread,
    ResourceKind::Cpu,
    ResourceKind::NodeCpu,
    ResourceKind::Core,
    ResourceKind::JvmCpu,
];

/// Finds processors at their limit.
pub(super) fn detect(view: &View<'_>) -> Vec<Observation> {
    let all = ceilings::resources(view);
    let processors: Vec<&Resource<'_>> =
        all.iter().filter(|resource| PROCESSORS.contains(&resource.name.kind)).collect();
    if processors.is_empty() {
        return vec![Observation::Missing(MissingKind::ServerProcessors)];
    }
    let observe = |resource: &&Resource<'_>| match resource.at_limit >= AT_LIMIT_MIN {
        true => Observation::Found(Box::new(finding(view, resource)), Depth::Resource),
        false => Observation::RuledOut(RuledOut::Processor {
            resource: resource.name.clone(),
            used: resource.mean,
            limit: limit_shown(view, resource),
            full_share: FULL,
            at_limit_share: resource.at_limit,
        }),
    };
    processors.iter().map(observe).collect()
}

/// A program that is not at its limit could have more than what was idle: neighbours share the cores with it.
fn limit_shown(view: &View<'_>, resource: &Resource<'_>) -> f64 {
    match resource.name.kind {
        ResourceKind::ProgramCpu => view.signals(&[SignalId::CoreCpu]).len() as f64,
        _ => resource.limit,
    }
}

/// Returns the share of the time in which a processor of the target is at its limit: waits inside services then wait for it.
pub(in super::super) fn share_saturated(view: &View<'_>) -> f64 {
    let all = ceilings::resources(view);
    let processors =
        all.iter().filter(|resource| PROCESSORS.contains(&resource.name.kind) && is_targets(view, resource));
    processors.map(|resource| resource.at_limit).fold(0.0, f64::max).min(1.0)
}

/// Returns true if the target uses the processor. A core does not report whose work it does.
fn is_targets(view: &View<'_>, resource: &Resource<'_>) -> bool {
    match resource.name.kind {
        ResourceKind::Cpu | ResourceKind::Thread => true,
        ResourceKind::ProgramCpu => {
            let cores = view.signals(&[SignalId::CoreCpu]).len() as f64;
            resource.mean >= cores * PROGRAM_MIN || share_queued(view, resource) >= QUEUED_MIN
        }
        // Where the programs under load are measured, each answers for itself.
        ResourceKind::Core if !view.signals(&[SignalId::ListenerCpu]).is_empty() => false,
        _ => wanted(view) >= WANTED_MIN,
    }
}

/// Returns the share of response time that a program's threads wait for a core, whichever program uses it (Little's law).
fn share_queued(view: &View<'_>, resource: &Resource<'_>) -> f64 {
    let waiting = view.signals(&[SignalId::ListenerWaiting]).into_iter();
    let of_program = waiting.filter(|signal| series::place(signal) == resource.name.place);
    let threads: f64 = of_program.filter_map(|signal| series::mean(view.level, signal)).sum();
    view.share_of_waiting(threads)
}

fn finding(view: &View<'_>, resource: &Resource<'_>) -> Hypothesis {
    taken(view, resource).unwrap_or_else(|| at_limit(view, resource))
}

/// A program that uses little, and whose threads wait because programs that are not under load use the cores.
fn taken(view: &View<'_>, resource: &Resource<'_>) -> Option<Hypothesis> {
    let cores = view.signals(&[SignalId::CoreCpu]).len() as f64;
    if resource.name.kind != ResourceKind::ProgramCpu || resource.mean >= cores * PROGRAM_MIN {
        return None;
    }
    let (others, waiting_share) = (ceilings::taken_by_neighbours(view)?, share_queued(view, resource));
    let place = resource.name.place.clone();
    let claim =
        Claim::ProcessorsTaken { place: place.clone(), used: resource.mean, others, cores, waiting_share };
    Some(Hypothesis {
        role: if is_targets(view, resource) { Role::Limits } else { Role::Contributes },
        strength: Strength::Limit,
        explains: Some(waiting_share.min(1.0)),
        numbers: vec![
            exact(FigureName::Used, resource.mean, Unit::Cores).noted(Note::MeanOfSeries(resource.signals.len())),
            exact(FigureName::AtLimitTime, resource.at_limit * 100.0, Unit::Percent).noted(Note::OfTime),
        ],
        queries: resource.signals.iter().take(super::QUERIES_MAX).map(|signal| view.query(signal)).collect(),
        cost: CostClass::Resource,
        ..draft(claim, Remedy::FreeProcessors { place: place.clone() }, place)
    })
}

fn at_limit(view: &View<'_>, resource: &Resource<'_>) -> Hypothesis {
    let mut numbers = vec![
        exact(FigureName::Used, resource.mean, Unit::Cores).noted(Note::MeanOfSeries(resource.signals.len())),
        exact(FigureName::Limit, resource.limit, Unit::Cores),
        exact(FigureName::AtLimitTime, resource.at_limit * 100.0, Unit::Percent).noted(Note::OfTime),
    ];
    let ceiling = resource.demand.as_ref().and_then(|demand| {
        let interval = demand.ceiling_interval(resource.limit)?;
        numbers.push(Measured::within(
            FigureName::RequestDemand,
            demand.slope,
            Unit::Seconds,
            demand.interval,
        ));
        let most = demand.ceiling(resource.limit)?;
        let ceiling = Measured::within(FigureName::DemandCeiling, most, Unit::PerSecond, interval);
        numbers.push(ceiling.clone());
        numbers.push(exact(FigureName::Throughput, view.level.requests_per_s(), Unit::PerSecond));
        Some((most, ceiling))
    });
    let name = &resource.name;
    let claim = Claim::ProcessorAtLimit {
        resource: name.clone(),
        used: resource.mean,
        limit: resource.limit,
        at_limit_share: resource.at_limit,
        ceiling_per_s: ceiling.as_ref().map(|(most, _)| *most),
    };
    let remedy = Remedy::RaiseProcessor { kind: name.kind, place: name.place.clone(), limit: resource.limit };
    Hypothesis {
        role: if is_targets(view, resource) { Role::Limits } else { Role::Contributes },
        strength: Strength::Limit,
        explains: None,
        numbers,
        demand: resource.demand.as_ref().map(|demand| demand.line(name.kind, Some(resource.limit))),
        queries: resource.signals.iter().take(super::QUERIES_MAX).map(|signal| view.query(signal)).collect(),
        flags: flags(resource),
        caveats: match name.kind {
            ResourceKind::Cpu | ResourceKind::ProgramCpu | ResourceKind::Thread => Vec::new(),
            _ => vec![Caveat::CoreOwnerUnknown],
        },
        cost: CostClass::Resource,
        prediction: ceiling.map(|(most, now)| doubled(view, resource, most, now)),
        ..draft(claim, remedy, name.place.clone())
    }
}

/// Returns the CPU demand of the target in cores, from its processes and its database. Processes may be reported as containers too.
fn wanted(view: &View<'_>) -> f64 {
    let of_processes = view.highest_of_means(SignalRole::ProcessCpu).unwrap_or(0.0).max(0.0);
    let sessions = view.signals(&[SignalId::ActiveSessions]).into_iter();
    let computing =
        sessions.filter(|signal| signal.labels.get(label::WAIT_TYPE).is_some_and(|wait| wait == "CPU"));
    of_processes + computing.filter_map(|signal| series::mean(view.level, signal)).sum::<f64>()
}

fn flags(resource: &Resource<'_>) -> Vec<Caveat> {
    let mut flags = Vec::new();
    if resource.peak_share > IMPOSSIBLE {
        flags.push(Caveat::OverLimit { peak_share: resource.peak_share });
    }
    if resource.demand.as_ref().is_some_and(|demand| !demand.is_fitted) {
        flags.push(Caveat::ConstantLoad);
    }
    flags
}

/// Predicts the effect of twice the limit: the next ceiling is its own or that of another resource.
fn doubled(view: &View<'_>, resource: &Resource<'_>, most: f64, now: Measured) -> Prediction {
    let scaled =
        |limit: f64| resource.demand.as_ref().and_then(|demand| demand.ceiling(limit)).unwrap_or(most);
    let next = scaled(resource.limit * 2.0);
    // More cores of a machine are more for all of its programs.
    let is_shared = |kind| matches!(kind, ResourceKind::ProgramCpu | ResourceKind::Core);
    let is_raised = |other: &Resource<'_>| is_shared(resource.name.kind) && is_shared(other.name.kind);
    let others = ceilings::resources(view)
        .into_iter()
        .filter(|other| other.name != resource.name && !is_raised(other));
    let lowest = others
        .filter_map(|other| Some((other.demand.as_ref()?.ceiling(other.limit)?, other.name)))
        .filter(|(per_s, _)| *per_s >= most)
        .min_by(|a, b| a.0.total_cmp(&b.0));
    let (per_s, next_limit) = match lowest {
        Some((per_s, resource)) if per_s < next => {
            (per_s, NextLimit::Resource { resource, ceiling_per_s: None })
        }
        _ => (next, NextLimit::Same { resource: resource.name.clone() }),
    };
    // A narrow interval of the demand in this run does not show how a ceiling varies between runs.
    let (below, above) = (1.0 - OF_CEILING, 1.0 + OF_CEILING);
    let spread = now
        .interval
        .map_or((below, above), |(low, high)| ((low / most).min(below), (high / most).clamp(above, 2.0)));
    Prediction {
        change: Change::ProcessorLimit {
            kind: resource.name.kind,
            place: resource.name.place.clone(),
            from: resource.limit,
            to: resource.limit * 2.0,
        },
        now: Some(now),
        then: Some(Measured::within(
            FigureName::Ceiling,
            per_s,
            Unit::PerSecond,
            (per_s * spread.0, per_s * spread.1),
        )),
        next_limit,
        wrong_if: Refutation::ThroughputBelowOffered { per_s: per_s * spread.0 },
        command: view.level.command.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{flat, level, with_evidence};
    use super::super::testing::{check, fires};
    use super::*;

    fn used(value: f64) -> model::Signal {
        flat("container_cpu", &[("pod", "a"), ("container", "worker")], 10, value)
    }

    #[test]
    fn threads_that_wait_for_a_core_are_limited_whoever_uses_it() {
        let role = |waiting: f64| {
            let of = |name: &str, value: f64| flat(name, &[("program", "php-fpm:9000")], 10, value);
            let signals = vec![
                flat("core_cpu", &[("core", "0")], 10, 1.0),
                flat("core_cpu", &[("core", "1")], 10, 1.0),
                of("listener_cpu", 0.3),
                of("listener_waiting", waiting),
            ];
            let found = fires(detect, &with_evidence(level(10, 10, 0.8), signals, Vec::new()));
            found.iter().find(|it| it.place == "php-fpm:9000").map(|it| it.role)
        };
        // Eight requests in flight.
        assert_eq!(role(6.0), Some(Role::Limits));
        assert_eq!(role(1.0), Some(Role::Contributes));
    }

    #[test]
    fn cores_that_neighbours_use_are_not_called_the_programs_limit() {
        let of = |name: &str, value: f64| flat(name, &[("program", "postgres:5432")], 10, value);
        let cores = ["0", "1"].map(|core| flat("core_cpu", &[("core", core)], 10, 1.0));
        let found = |used: f64| {
            let signals = cores.iter().cloned().chain([of("listener_cpu", used), of("listener_waiting", 6.0)]);
            fires(detect, &with_evidence(level(10, 10, 0.8), signals.collect(), Vec::new())).remove(0)
        };
        let little = found(0.5);
        let Claim::ProcessorsTaken { others, cores, waiting_share, .. } = little.claim else {
            panic!("{:?}", little.claim)
        };
        // Six of eight requests in flight.
        assert_eq!((others, cores, waiting_share, little.prediction), (1.5, 2.0, 0.75, None));
        assert_eq!(little.remedy, Remedy::FreeProcessors { place: "postgres:5432".to_owned() });
        assert!(matches!(found(1.3).claim, Claim::ProcessorAtLimit { .. }));
    }

    #[test]
    fn more_cores_are_more_for_all_programs_of_a_machine() {
        let of = |program: &str, value: f64| flat("listener_cpu", &[("program", program)], 10, value);
        let cores = ["0", "1"].map(|core| flat("core_cpu", &[("core", core)], 10, 1.0));
        let signals = cores.into_iter().chain([of("php-fpm:9000", 1.9), of("nginx:80", 0.1)]).collect();
        let found = fires(detect, &with_evidence(level(10, 100, 0.2), signals, Vec::new()));
        let php = found.iter().find(|it| it.place == "php-fpm:9000").expect("a finding");
        let next = php.prediction.as_ref().map(|it| &it.next_limit);
        assert!(matches!(next, Some(NextLimit::Same { .. })), "{next:?}");
    }

    #[test]
    fn a_limit_that_is_reached_is_named() {
        let limit = || flat("container_cpu_limit", &[("pod", "a"), ("container", "worker")], 10, 1.0);
        let case = |value| with_evidence(level(10, 10, 0.1), vec![used(value), limit()], Vec::new());
        check(detect, &case(0.95), &["CPU limit: worker"]);
        check(detect, &case(0.6), &[]);
        let found = fires(detect, &case(0.95));
        let Claim::ProcessorAtLimit { ceiling_per_s: Some(ceiling_per_s), .. } = found[0].claim else {
            panic!("{:?}", found[0].claim)
        };
        assert_eq!((ceiling_per_s * 10.0).round(), 105.0);
        let next = found[0].prediction.as_ref().map(|it| &it.next_limit);
        assert!(matches!(next, Some(NextLimit::Same { .. })), "{next:?}");
    }

    #[test]
    fn a_core_of_the_machine_limits_only_who_wants_it() {
        let case = |sessions| {
            let labels = [("wait_type", "CPU"), ("wait_event", "CPU")];
            let core = flat("core_cpu", &[("core", "1")], 10, 0.99);
            with_evidence(
                level(10, 10, 0.1),
                vec![core, flat("active_sessions", &labels, 10, sessions)],
                Vec::new(),
            )
        };
        assert_eq!(fires(detect, &case(2.0))[0].role, Role::Limits);
        assert_eq!(fires(detect, &case(0.1))[0].role, Role::Contributes);
    }

    /// A seed's workers: 1.84 of one core.
    #[test]
    fn more_than_there_is_is_flagged() {
        let limit = flat("container_cpu_limit", &[("pod", "a"), ("container", "worker")], 10, 1.0);
        let found = fires(detect, &with_evidence(level(10, 6, 1.0), vec![used(1.84), limit], Vec::new()));
        assert_eq!(found[0].flags[0], Caveat::OverLimit { peak_share: 1.84 });
    }

    #[test]
    fn a_program_under_load_that_has_all_idle_cpu_limits() {
        let case = |used: f64, idle: f64, thread: f64| {
            let labels = [("program", "shop:8080")];
            let mut signals =
                vec![flat("listener_cpu", &labels, 10, used), flat("listener_thread", &labels, 10, thread)];
            signals.extend(["0", "1"].map(|core| flat("core_cpu", &[("core", core)], 10, 1.0 - idle / 2.0)));
            with_evidence(level(10, 10, 0.1), signals, Vec::new())
        };
        let limits = |level: &crate::diagnosis::Level| {
            let found = fires(detect, level).into_iter().filter(|one| one.role == Role::Limits);
            found.map(|one| one.place).collect::<Vec<_>>()
        };
        assert_eq!(limits(&case(1.3, 0.02, 0.7))[0], "shop:8080");
        // Others have the cores.
        assert!(limits(&case(0.2, 0.02, 0.1)).is_empty());
        // Threads wait for a core, though both are idle for moments.
        let queued = |waiting: f64| {
            let mut level = case(1.5, 0.25, 0.7);
            level.evidence.signals.push(flat("listener_waiting", &[("program", "shop:8080")], 10, waiting));
            limits(&level)
        };
        assert_eq!((queued(4.5), queued(0.2)), (vec!["shop:8080".to_owned()], Vec::new()));
        // One thread is busy all of the time, with an idle core beside it.
        assert_eq!(limits(&case(1.05, 0.8, 0.99)), ["shop:8080"]);
        assert!(limits(&case(0.5, 1.3, 0.4)).is_empty());
    }
}
