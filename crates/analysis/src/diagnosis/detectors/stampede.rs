//! A cache stampede: an entry expires and many requests reload it at once. In few of the requests there are several executions of
//! one statement at the same time, more than independent arrivals would have.
//!
//! Not: a statement of every request, which always runs several times at once under load.

use model::diagnosis::{Change, Claim, CostClass, ExemplarLink, FigureName, Hypothesis, Note, Remedy, Role};
use model::{Strength, Unit};

use super::super::case_view::View;
use super::super::observation::{Depth, Observation, draft, exact};
use super::super::paths::{Step, StepKey};
use super::super::prediction::Gone;
use super::super::thresholds::stampede::{
    BY_CHANCE_TIMES_MIN, LIMITS_MIN, PAIRS_MIN, SHARE_MIN, SPANS_MIN, TOGETHER_MIN, TRACES_MAX,
};
use super::short;

/// Finds cache entries that many requests reload at once.
pub(super) fn detect(view: &View<'_>) -> Vec<Observation> {
    let suspects = view.paths.steps.iter().filter(|(_, step)| {
        let of_traces = step.traces as f64 / view.paths.traces.max(1) as f64;
        step.is_database && step.spans >= SPANS_MIN && of_traces <= TRACES_MAX
    });
    let found = suspects.filter_map(|(key, step)| finding(view, key, step));
    let most = found.max_by(|a, b| a.explains.unwrap_or(0.0).total_cmp(&b.explains.unwrap_or(0.0)));
    most.map(|hypothesis| Observation::Found(Box::new(hypothesis), Depth::Cause)).into_iter().collect()
}

fn finding(view: &View<'_>, key: &StepKey, step: &Step) -> Option<Hypothesis> {
    let statement = step.statement.clone().unwrap_or_else(|| key.operation.to_string());
    // Other requests wait while the database is busy with the reload.
    let of_database = super::statements::share_of_database(view, &statement).unwrap_or(0.0)
        * super::statements::database_share(view);
    let share = view.explained_by(key, step).max(of_database);
    let seen_beside = together(&step.times_ns) - 1.0;
    // Each traced execution stands for as many as there are requests per trace.
    let (together, by_chance) = (1.0 + seen_beside * view.weight(), by_chance(view, step));
    if share < SHARE_MIN
        || together < TOGETHER_MIN
        || seen_beside * step.times_ns.len() as f64 / 2.0 < PAIRS_MIN
        || together - 1.0 < by_chance * BY_CHANCE_TIMES_MIN
        || is_of_one_route(view, key, step)
    {
        return None;
    }
    let of_traces = step.traces as f64 / view.paths.traces.max(1) as f64;
    let mut exemplars = view.exemplars(&step.slowest);
    exemplars.truncate(2);
    exemplars.push(ExemplarLink::Statement(statement.clone()));
    let claim = Claim::CacheStampede {
        statement: short(&statement),
        concurrent: together,
        mean_s: step.mean_s(),
        requests_share: of_traces,
    };
    Some(Hypothesis {
        role: if share >= LIMITS_MIN { Role::Limits } else { Role::Contributes },
        strength: Strength::Statistics,
        explains: Some(share),
        numbers: vec![
            exact(FigureName::Concurrent, together, Unit::Count).noted(Note::OfLoaders),
            exact(FigureName::ConcurrentByChance, 1.0 + by_chance, Unit::Count).noted(Note::OnePlusRate),
            exact(FigureName::RequestsThatLoad, of_traces * 100.0, Unit::Percent),
            exact(FigureName::RequestTimeShare, share * 100.0, Unit::Percent),
        ],
        exemplars,
        cost: CostClass::Cache,
        prediction: view.without_work(
            Gone { share: view.explained_by(key, step), freed: of_database * (1.0 - 1.0 / together) },
            Change::OneRefill,
        ),
        ..draft(claim, Remedy::RefillOnce, key.operation.to_string())
    })
}

/// Returns true if all requests of a route run the statement: then it is the route's own work.
fn is_of_one_route(view: &View<'_>, key: &StepKey, step: &Step) -> bool {
    let routes = view
        .paths
        .steps
        .iter()
        .filter(|(route, _)| route.kind == model::SpanKind::Server && route.service == key.service);
    routes.into_iter().any(|(_, route)| {
        let ratio = step.traces as f64 / route.traces.max(1) as f64;
        (0.9..=1.1).contains(&ratio)
    })
}

/// Returns the mean number of executions at a time, over the executions.
fn together(times_ns: &[(i64, u64)]) -> f64 {
    let mut ends: Vec<i64> = Vec::with_capacity(times_ns.len());
    let (mut sum, mut first_open) = (0_usize, 0);
    for (start_ns, length_ns) in times_ns {
        ends.push(start_ns.saturating_add(i64::try_from(*length_ns).unwrap_or(i64::MAX)));
        // Executions before the first open one have ended; some of the others may have.
        while first_open < ends.len() && ends[first_open] <= *start_ns {
            first_open += 1;
        }
        sum += ends.len() - first_open;
    }
    // The first of several sees itself only, the last sees all: the size is twice the mean, less one.
    let mean = sum as f64 / times_ns.len().max(1) as f64;
    mean * 2.0 - 1.0
}

/// Returns the expected number of others at a time for independent arrivals.
fn by_chance(view: &View<'_>, step: &Step) -> f64 {
    step.spans as f64 * view.weight() / view.level.length_s().max(1.0) * step.mean_s()
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{level, request, sampled};
    use super::super::testing::check;
    use super::*;

    /// A request every 100 ms; the first `crowd` of each `period` reload for `length` milliseconds, all from the same moment.
    fn case(period: usize, crowd: usize, length: f64) -> crate::diagnosis::Level {
        let traces = (0..400_usize).map(|number| {
            let place = number % period;
            let back_ms = place as f64 * 100.0;
            let load = [("load all", 1.0 - back_ms, length)];
            let below: &[(&str, f64, f64)] = if place < crowd { &load } else { &[] };
            let mut spans = request("shop", "GET /", length * 1.2, below);
            spans[0].start_ns -= (back_ms * 1e6) as i64;
            sampled(number as u128, spans)
        });
        crate::diagnosis::Level { traces: traces.collect(), ..level(40, 10, 0.3) }
    }

    #[test]
    fn a_crowd_that_loads_at_once_is_told() {
        check(detect, &case(20, 6, 300.0), &["cache stampede: load all"]);
        check(detect, &case(20, 1, 300.0), &[]);
        check(detect, &case(20, 20, 300.0), &[]);
    }
}
