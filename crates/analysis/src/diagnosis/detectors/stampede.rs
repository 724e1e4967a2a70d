//! A cache that expires and is loaded by all who notice at once: in few of the requests, several of the same statement at the
//! same time, more than would be by chance.
//!
//! Not: a statement of every request, which is always there several times under load.

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

/// Who loads what all at once.
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
    // What it keeps the database from, others wait for.
    let of_database = super::statements::share_of_database(view, &statement).unwrap_or(0.0)
        * super::statements::database_share(view);
    let share = view.explained_by(key, step).max(of_database);
    let seen_beside = together(&step.times_ns) - 1.0;
    // Beside one that is traced there are as many more as there are requests for each trace.
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

/// Whether all requests of a route do it: then it is what the route does.
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

/// How many there are at a time, on average over those that there are.
fn together(times_ns: &[(i64, u64)]) -> f64 {
    let mut ends: Vec<i64> = Vec::with_capacity(times_ns.len());
    let (mut sum, mut first_open) = (0_usize, 0);
    for (start_ns, length_ns) in times_ns {
        ends.push(start_ns.saturating_add(i64::try_from(*length_ns).unwrap_or(i64::MAX)));
        // Those before the first that is open are over; among the others some may be.
        while first_open < ends.len() && ends[first_open] <= *start_ns {
            first_open += 1;
        }
        sum += ends.len() - first_open;
    }
    // Who comes first of several sees one, the last sees all: twice the mean, less one.
    let mean = sum as f64 / times_ns.len().max(1) as f64;
    mean * 2.0 - 1.0
}

/// How many others there would be at a time if each came by itself.
fn by_chance(view: &View<'_>, step: &Step) -> f64 {
    step.spans as f64 * view.weight() / view.level.length_s().max(1.0) * step.mean_s()
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{level, request, sampled};
    use super::super::testing::check;
    use super::*;

    /// A request each 100 ms; of each `period`, the first `crowd` load for `length` milliseconds, all from the same moment.
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
