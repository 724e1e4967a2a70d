//! A processor at its limit: it stands at it for most of the time while work waits, and what a request demands of it gives the
//! most that goes through (utilisation law; Denning and Buzen, 1978).
//!
//! Not: a processor that is busy and not at its limit, and one whose use is above its limit, which is no measurement at all.

use model::diagnosis::{CostClass, Hypothesis, Measured, Prediction, Role};
use model::signal::label;
use model::{Figure, SignalId, SignalRole, Strength, Unit};

use super::super::ceilings::{self, FULL, Resource};
use super::super::series;
use super::super::view::{Depth, Says, View, count, draft, exact, missing, not, percent, rate};

const NAME: &str = "cpu-limit";

/// It has to be at its limit for so much of the time.
const AT_LIMIT_MIN: f64 = 0.5;

/// More than this of a limit cannot be used: control groups are counted twice, or the limit is another's.
const IMPOSSIBLE: f64 = 1.2;

/// Whose work a core of a machine does, the core does not tell: somebody of the target must want one for so much of the time.
const WANTED_MIN: f64 = 0.8;

/// Resources that are processors.
const PROCESSORS: [&str; 4] = ["CPU", "CPU of the node", "core", "CPU of the JVM"];

/// Which processors are at their limit.
pub(super) fn detect(view: &View<'_>) -> Vec<Says> {
    let all = ceilings::resources(view);
    let processors: Vec<&Resource<'_>> =
        all.iter().filter(|resource| PROCESSORS.contains(&resource.what)).collect();
    if processors.is_empty() {
        return vec![missing(
            "processors of the servers",
            "whether a processor is at its limit, and how much one would be enough for",
            "--evidence prometheus=http://PROMETHEUS:9090, or on this machine --evidence host=local",
        )];
    }
    let says = |resource: &&Resource<'_>| match resource.at_limit >= AT_LIMIT_MIN {
        true => Says::Found(Box::new(of(view, resource)), Depth::Resource),
        false => not(
            &resource.name,
            format!(
                "at {} of its limit or above for {} of the time",
                percent(FULL),
                percent(resource.at_limit)
            ),
            format!("{} of {} {}", count(resource.mean), count(resource.limit), resource.unit),
        ),
    };
    processors.iter().map(says).collect()
}

/// The share of the time in which a processor that the target wants is at its limit: what waits inside then waits for it.
pub(in super::super) fn share_saturated(view: &View<'_>) -> f64 {
    let all = ceilings::resources(view);
    let processors =
        all.iter().filter(|resource| PROCESSORS.contains(&resource.what) && is_targets(view, resource));
    processors.map(|resource| resource.at_limit).fold(0.0, f64::max).min(1.0)
}

/// Whose work a core does is known by who wants one.
fn is_targets(view: &View<'_>, resource: &Resource<'_>) -> bool {
    resource.what == "CPU" || wanted(view) >= WANTED_MIN
}

fn of(view: &View<'_>, resource: &Resource<'_>) -> Hypothesis {
    let is_core = resource.what != "CPU";
    let (used, limit) = (count(resource.mean), count(resource.limit));
    let mut numbers = vec![
        exact("used", resource.mean, Unit::Cores)
            .noted(format!("mean of the run, {} series", resource.signals.len())),
        exact("limit", resource.limit, Unit::Cores),
        exact("at its limit", resource.at_limit * 100.0, Unit::Percent).noted("of the time"),
    ];
    let ceiling = resource.demand.as_ref().and_then(|demand| {
        let interval = demand.ceiling_interval(resource.limit)?;
        numbers.push(Measured::within(
            Figure::new("demand of a request", demand.slope, Unit::Seconds),
            demand.interval,
        ));
        let ceiling =
            Figure::new("ceiling, limit / demand", demand.ceiling(resource.limit)?, Unit::PerSecond);
        let ceiling = Measured::within(ceiling, interval);
        numbers.push(ceiling.clone());
        numbers.push(exact("went through", view.level.requests_per_s(), Unit::PerSecond));
        Some((demand.ceiling(resource.limit)?, ceiling))
    });
    let remedy =
        format!("make what it does cheaper, or give {} more than {limit} {}", resource.place, resource.unit);
    let claim = match &ceiling {
        Some((most, _)) => format!(
            "{} can do no more than {} in all, so that any load above it waits",
            resource.name,
            rate(*most)
        ),
        None => format!("{} does as much as it can, so that any more load waits", resource.name),
    };
    Hypothesis {
        title: format!("{} is at its limit", resource.name),
        summary: format!(
            "{used} of {limit} {} used, at the limit for {} of the time",
            resource.unit,
            percent(resource.at_limit)
        ),
        claim,
        role: if is_targets(view, resource) { Role::Limits } else { Role::Contributes },
        strength: Strength::Limit,
        explains: None,
        numbers,
        demand: resource.demand.as_ref().map(|demand| {
            demand.line(&format!("{}, {}", resource.what, resource.unit), "requests/s", Some(resource.limit))
        }),
        queries: resource.signals.iter().take(super::QUERIES_MAX).map(|signal| view.query(signal)).collect(),
        flags: flags(resource),
        caveats: match is_core {
            true => vec!["whose work it is, the machine does not tell".to_owned()],
            false => Vec::new(),
        },
        remedy,
        cost: CostClass::Resource,
        prediction: ceiling.map(|(most, now)| doubled(view, resource, most, now)),
        ..draft(NAME, if is_core { "CPU saturated" } else { "CPU limit" }, resource.place.clone())
    }
}

/// How many processors the target wants, as its processes, which may be told as containers as well, and its database say.
fn wanted(view: &View<'_>) -> f64 {
    let of_processes = view.highest_of_means(SignalRole::ProcessCpu).unwrap_or(0.0).max(0.0);
    let sessions = view.signals(&[SignalId::ActiveSessions]).into_iter();
    let computing =
        sessions.filter(|signal| signal.labels.get(label::WAIT_TYPE).is_some_and(|wait| wait == "CPU"));
    of_processes + computing.filter_map(|signal| series::mean(view.level, signal)).sum::<f64>()
}

fn flags(resource: &Resource<'_>) -> Vec<String> {
    let mut flags = Vec::new();
    if resource.peak_share > IMPOSSIBLE {
        flags.push(format!(
            "{} of a limit is used at the peak, which cannot be: a control group is counted twice, or \
                the limit is another's",
            percent(resource.peak_share)
        ));
    }
    if resource.demand.as_ref().is_some_and(|demand| !demand.is_fitted) {
        flags.push("the load hardly varied: use without load is counted as demand".to_owned());
    }
    flags
}

/// Twice the limit: the next ceiling is its own, or that of whatever is next.
fn doubled(view: &View<'_>, resource: &Resource<'_>, most: f64, now: Measured) -> Prediction {
    let scaled =
        |limit: f64| resource.demand.as_ref().and_then(|demand| demand.ceiling(limit)).unwrap_or(most);
    let next = scaled(resource.limit * 2.0);
    let others = ceilings::resources(view).into_iter().filter(|other| other.name != resource.name);
    let lowest = others
        .filter_map(|other| Some((other.demand.as_ref()?.ceiling(other.limit)?, other.name)))
        .filter(|(per_s, _)| *per_s >= most)
        .min_by(|a, b| a.0.total_cmp(&b.0));
    let (per_s, next_limit) = match lowest {
        Some((per_s, name)) if per_s < next => (per_s, name),
        _ => (next, format!("{} again", resource.name)),
    };
    let spread = now.interval.map_or((0.9, 1.1), |(low, high)| (low / most, (high / most).min(2.0)));
    let then = Figure::new("ceiling", per_s, Unit::PerSecond);
    Prediction {
        change: format!(
            "{} from {} to {} {}",
            resource.place,
            count(resource.limit),
            count(resource.limit * 2.0),
            resource.unit
        ),
        now: Some(now),
        then: Some(Measured::within(then, (per_s * spread.0, per_s * spread.1))),
        next_limit,
        wrong_if: format!("throughput stays below {} though more is asked for", rate(per_s * spread.0)),
        command: view.level.command.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{flat, level, told};
    use super::super::testing::{check, fires};
    use super::*;

    fn used(value: f64) -> model::Signal {
        flat("container_cpu", &[("pod", "a"), ("container", "worker")], 10, value)
    }

    #[test]
    fn a_limit_that_is_reached_is_named() {
        let limit = || flat("container_cpu_limit", &[("pod", "a"), ("container", "worker")], 10, 1.0);
        let case = |value| told(level(10, 10, 0.1), vec![used(value), limit()], Vec::new());
        check(detect, &case(0.95), &["CPU limit: worker"]);
        check(detect, &case(0.6), &[]);
        let found = fires(detect, &case(0.95));
        assert!(found[0].claim.contains("10.5/s"), "{}", found[0].claim);
        assert!(found[0].prediction.as_ref().is_some_and(|it| it.next_limit.contains("again")));
    }

    #[test]
    fn a_core_of_the_machine_limits_only_who_wants_it() {
        let case = |sessions| {
            let labels = [("wait_type", "CPU"), ("wait_event", "CPU")];
            let core = flat("core_cpu", &[("core", "1")], 10, 0.99);
            told(level(10, 10, 0.1), vec![core, flat("active_sessions", &labels, 10, sessions)], Vec::new())
        };
        assert_eq!(fires(detect, &case(2.0))[0].role, Role::Limits);
        assert_eq!(fires(detect, &case(0.1))[0].role, Role::Contributes);
    }

    /// A seed's workers: 1.84 of one core.
    #[test]
    fn more_than_there_is_is_flagged() {
        let limit = flat("container_cpu_limit", &[("pod", "a"), ("container", "worker")], 10, 1.0);
        let found = fires(detect, &told(level(10, 6, 1.0), vec![used(1.84), limit], Vec::new()));
        assert!(found[0].flags[0].contains("cannot be"), "{:?}", found[0].flags);
    }
}
