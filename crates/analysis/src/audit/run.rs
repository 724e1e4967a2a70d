//! The facts of a stored run, as of a table.

use model::{Mark, MetricKind, Quantile, RateTotal, Trend, ValueKind};

use super::kinds::{Criterion, Facts, Outcome, QuantileClaim, Record, Run, Source, Summary, Usage};
use super::quantity::{Family, Measure};

/// The auditor's input from a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunFacts {
    /// How the run is named.
    pub name: String,
    /// Its thresholds, in the order of the script.
    pub thresholds: Vec<ThresholdFact>,
    /// Distributions of times in milliseconds, by metric; `metric{expected_response:true}` for successes alone.
    pub times: Vec<(String, Trend)>,
    /// Requests, with those that failed.
    pub requests: u64,
    /// Requests that failed.
    pub failed: u64,
    /// Requests that were given up after their timeout.
    pub timeouts: u64,
    /// Checks by name.
    pub checks: Vec<(String, RateTotal)>,
    /// The kind of data points, the number sent, the number recorded.
    pub records: Vec<(String, u64, u64)>,
    /// Quantiles that the script asks the summary for beside the usual ones, in percent.
    pub asked_quantiles: Vec<f64>,
    /// Usage and limits of the load generator's resources.
    pub usages: Vec<UsageFact>,
    /// Facts that the run's file holds twice, from two sources.
    pub twice: Vec<TwiceFact>,
    /// The loop, where every VU waits for its answer before it goes on and their number stays.
    pub closed_loop: Option<ClosedLoopFact>,
}

/// Usage of a resource.
#[derive(Clone, Debug, PartialEq)]
pub struct UsageFact {
    /// Of what.
    pub resource: &'static str,
    /// The most that was used, in the family's base unit.
    pub used: f64,
    /// The limit.
    pub limit: f64,
    /// The family of the value.
    pub family: Family,
}

/// One fact from two sources.
#[derive(Clone, Debug, PartialEq)]
pub struct TwiceFact {
    /// The fact.
    pub fact: &'static str,
    /// The sources, and their values in the family's base unit.
    pub sources: [(&'static str, f64); 2],
    /// How far apart they may be.
    pub tolerance: f64,
    /// The family of the value.
    pub family: Family,
}

/// The figures of a closed loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClosedLoopFact {
    /// How many VUs go round.
    pub vus: f64,
    /// How many times all of them together, per second.
    pub iterations_per_s: f64,
    /// The mean time of once, in seconds.
    pub iteration_s: f64,
}

/// A condition of a threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct ThresholdFact {
    /// The metric, with the tags it is restricted to.
    pub selector: String,
    /// The metric's kind.
    pub kind: MetricKind,
    /// The content type of its values.
    pub contains: ValueKind,
    /// As written: `p(95)<500`.
    pub condition: String,
    /// The limit.
    pub limit: f64,
    /// The measured value.
    pub observed: Quantile,
    /// Whether crossing it ends the run; such limits stand beside those that decide about success.
    pub is_aborting: bool,
    /// How many values the metric has.
    pub samples: u64,
}

/// The facts of a run.
pub fn facts_of_run(run: &RunFacts) -> Facts {
    Facts {
        criteria: run.thresholds.iter().map(|it| criterion(run, it)).collect(),
        quantiles: run.thresholds.iter().filter_map(|it| quantile(run, it)).chain(asked(run)).collect(),
        summaries: run.times.iter().map(|(metric, trend)| summary(run, metric, trend)).collect(),
        outcomes: outcomes(run),
        records: run
            .records
            .iter()
            .map(|(what, sent, recorded)| record(run, what, *sent, *recorded))
            .collect(),
        usages: run.usages.iter().map(|it| usage(run, it)).collect(),
        sources: run.twice.iter().flat_map(|it| sources(run, it)).collect(),
        runs: closed_loop(run).into_iter().collect(),
        ..Facts::default()
    }
}

fn criterion(run: &RunFacts, threshold: &ThresholdFact) -> Criterion {
    let (scale, family) = match (threshold.kind, threshold.contains) {
        (MetricKind::Rate, _) => (100.0, Family::Share),
        (_, ValueKind::Time) => (1e-3, Family::Time),
        _ => (1.0, Family::Plain),
    };
    let measure = |value: f64| Measure { value: value * scale, half_digit: 0.0, family };
    let (statistic, rest) = split(&threshold.condition);
    // A limit from below and one from above bound a range, and do not conflict; nor do those of which one only stops the run.
    let bound = if rest.starts_with('>') { " (at least)" } else { "" };
    let role = if threshold.is_aborting { " (to stop the run)" } else { "" };
    Criterion {
        place: run.name.clone(),
        metric: threshold.selector.clone(),
        statistic: format!("{statistic}{bound}{role}"),
        target: measure(threshold.limit),
        measured: match threshold.observed {
            Quantile::None => None,
            // What failed ranks above every number.
            Quantile::Failed | Quantile::AtLeast { why: Mark::Failed, .. } => {
                Some(Measure { value: f64::INFINITY, half_digit: 0.0, family })
            }
            Quantile::Value(value) | Quantile::AtLeast { bound: value, .. } => Some(measure(value)),
        },
    }
}

fn quantile(run: &RunFacts, threshold: &ThresholdFact) -> Option<QuantileClaim> {
    let (statistic, _) = split(&threshold.condition);
    let quantile: f64 = statistic.strip_prefix("p(")?.strip_suffix(')')?.trim().parse().ok()?;
    (threshold.samples > 0).then(|| QuantileClaim {
        place: run.name.clone(),
        metric: threshold.selector.clone(),
        quantile,
        of: "requests".to_owned(),
        samples: Some(threshold.samples as f64),
        ..QuantileClaim::default()
    })
}

/// The quantiles that the summary was asked for, of the times of all requests.
fn asked(run: &RunFacts) -> impl Iterator<Item = QuantileClaim> {
    let of_requests = run.times.iter().filter(|(metric, _)| metric == "http_req_duration");
    of_requests.flat_map(move |(metric, trend)| {
        run.asked_quantiles.iter().map(move |quantile| QuantileClaim {
            place: format!("{}, summaryTrendStats", run.name),
            metric: metric.clone(),
            quantile: *quantile,
            of: "requests".to_owned(),
            samples: Some(trend.population() as f64),
            ..QuantileClaim::default()
        })
    })
}

fn usage(run: &RunFacts, fact: &UsageFact) -> Usage {
    let measure = |value: f64| Measure { value, half_digit: 0.0, family: fact.family };
    Usage {
        place: run.name.clone(),
        resource: fact.resource.to_owned(),
        usage: measure(fact.used),
        limit: measure(fact.limit),
    }
}

fn sources<'a>(run: &'a RunFacts, fact: &'a TwiceFact) -> impl Iterator<Item = Source> + 'a {
    let measure = move |value: f64| Measure { value, half_digit: 0.0, family: fact.family };
    fact.sources.iter().map(move |(source, value)| Source {
        place: run.name.clone(),
        // The same fact of another run is another fact.
        fact: format!("{} of {}", fact.fact, run.name),
        source: (*source).to_owned(),
        value: measure(*value),
        tolerance: Some(measure(fact.tolerance)),
    })
}

/// A closed loop with limits for both throughput and latency, which are one result.
fn closed_loop(run: &RunFacts) -> Option<Run> {
    let ClosedLoopFact { vus, iterations_per_s, iteration_s } = run.closed_loop?;
    let is_rate = |it: &ThresholdFact| it.kind == MetricKind::Counter && split(&it.condition).0 == "rate";
    let is_time = |it: &ThresholdFact| it.kind == MetricKind::Trend && it.contains == ValueKind::Time;
    let both = run.thresholds.iter().any(is_rate) && run.thresholds.iter().any(is_time);
    both.then(|| Run {
        place: run.name.clone(),
        run: run.name.clone(),
        metric: Some("iteration_duration".to_owned()),
        vus: Some(vus),
        model: Some("closed".to_owned()),
        throughput: Some(iterations_per_s),
        avg: Some(iteration_s),
        ..Run::default()
    })
}

/// The statistic, and the rest of the condition from its comparison on.
fn split(condition: &str) -> (&str, &str) {
    let end = condition.find(['<', '>', '=', '!']).unwrap_or(condition.len());
    let (statistic, rest) = condition.split_at(end);
    (statistic.trim(), rest)
}

fn summary(run: &RunFacts, metric: &str, trend: &Trend) -> Summary {
    let seconds = |q: f64| match trend.quantile(q) {
        Quantile::Value(ms) => Some(ms / 1e3),
        _ => None,
    };
    let max = trend.max().map(|ms| ms / 1e3);
    // Timeouts that are counted apart are bounds; those among the values are values.
    let is_of_all = metric == "http_req_duration";
    let holds_timeouts = run.timeouts > 0 && trend.failures.is_none();
    Summary {
        place: run.name.clone(),
        metric: metric.to_owned(),
        count: Some(trend.population() as f64),
        failed: is_of_all.then_some(run.failed as f64),
        timeout: max.filter(|_| holds_timeouts && is_of_all),
        min: trend.min().map(|ms| ms / 1e3),
        med: seconds(0.5),
        p90: seconds(0.9),
        p95: seconds(0.95),
        max,
    }
}

fn outcomes(run: &RunFacts) -> Vec<Outcome> {
    let outcome = |outcome: String, level: &str, share: f64| Outcome {
        place: run.name.clone(),
        outcome,
        level: level.to_owned(),
        share: share * 100.0,
    };
    if run.requests == 0 {
        return Vec::new();
    }
    let answered = run.requests.saturating_sub(run.failed) as f64 / run.requests as f64;
    let checks = run
        .checks
        .iter()
        .filter_map(|(name, rate)| Some(outcome(format!("the check {name:?}"), "business", rate.rate()?)));
    std::iter::once(outcome("the share of requests that succeeded".to_owned(), "technical", answered))
        .chain(checks)
        .collect()
}

fn record(run: &RunFacts, what: &str, sent: u64, recorded: u64) -> Record {
    Record { place: run.name.clone(), what: what.to_owned(), sent: sent as f64, recorded: recorded as f64 }
}

#[cfg(test)]
mod tests {

    use super::super::audit;
    use super::*;

    fn threshold(condition: &str, limit: f64) -> ThresholdFact {
        ThresholdFact {
            selector: "http_req_duration".to_owned(),
            kind: MetricKind::Trend,
            contains: ValueKind::Time,
            condition: condition.to_owned(),
            limit,
            observed: Quantile::Value(100.0),
            is_aborting: false,
            samples: 1000,
        }
    }

    fn trend(samples: &[(f64, Mark, usize)]) -> Trend {
        let mut trend = Trend::default();
        for (value, mark, count) in samples {
            (0..*count).for_each(|_| trend.record(*value, *mark));
        }
        trend
    }

    /// A run in which there is nothing to find.
    fn clean() -> RunFacts {
        let duration = trend(&[(100.0, Mark::Measured, 995), (60_000.0, Mark::TimedOut, 5)]);
        RunFacts {
            name: "run a1".to_owned(),
            thresholds: vec![threshold("p(95)<500", 500.0), threshold("p(95)>1", 1.0)],
            times: vec![
                (
                    "http_req_duration{expected_response:true}".to_owned(),
                    trend(&[(100.0, Mark::Measured, 995)]),
                ),
                ("http_req_duration".to_owned(), duration),
                (
                    "http_req_connecting".to_owned(),
                    trend(&[(0.0, Mark::Measured, 990), (2.0, Mark::Measured, 10)]),
                ),
            ],
            requests: 1000,
            failed: 5,
            timeouts: 5,
            checks: vec![("it is there".to_owned(), RateTotal { passes: 995, total: 1000 })],
            records: vec![("seconds".to_owned(), 10, 10)],
            asked_quantiles: vec![99.0],
            usages: vec![UsageFact { resource: "memory", used: 9e8, limit: 1e9, family: Family::Bytes }],
            twice: vec![TwiceFact {
                fact: "requests",
                sources: [("the samples", 1000.0), ("the load", 1008.0)],
                tolerance: 10.0,
                family: Family::Plain,
            }],
            closed_loop: Some(ClosedLoopFact { vus: 10.0, iterations_per_s: 98.0, iteration_s: 0.1 }),
        }
    }

    /// A threshold on how many requests there are per second.
    fn rate() -> ThresholdFact {
        ThresholdFact {
            selector: "http_reqs".to_owned(),
            kind: MetricKind::Counter,
            contains: ValueKind::Default,
            ..threshold("rate>50", 50.0)
        }
    }

    #[track_caller]
    fn check(change: impl FnOnce(&mut RunFacts), expect: &[&str]) {
        let mut run = clean();
        change(&mut run);
        let found = audit(&facts_of_run(&run)).findings;
        let rules: Vec<&str> = found.iter().map(|finding| finding.rule().as_str()).collect();
        assert_eq!(rules, expect, "{found:#?}");
    }

    #[test]
    fn runs_are_held_to_the_same_rules() {
        check(|_| {}, &[]);
        check(|run| run.thresholds[0].observed = Quantile::None, &["unmeasured-criterion"]);
        check(|run| run.thresholds.push(threshold("p(95)<800", 800.0)), &["conflicting-slos"]);
        check(
            |run| run.thresholds.push(ThresholdFact { is_aborting: true, ..threshold("p(95)<800", 800.0) }),
            &[],
        );
        check(|run| run.thresholds.push(threshold("p(99.9) < 900", 900.0)), &["unsupported-quantile"]);
        check(|run| run.checks[0].1.passes = 0, &["business-zero"]);
        check(|run| run.records[0].2 = 9, &["lost-points"]);
        check(|run| run.asked_quantiles.push(99.9), &["unsupported-quantile"]);
        check(|run| run.usages[0].used = 1.1e9, &["usage-above-limit"]);
        check(|run| run.twice[0].sources[1].1 = 1011.0, &["sources-disagree"]);
        check(|run| run.thresholds.push(rate()), &["closed-loop"]);
        check(|run| (run.closed_loop, run.thresholds) = (None, vec![threshold("avg<1", 1.0), rate()]), &[]);
        check(|run| run.times[2].1.record(3040.0, Mark::Measured), &["syn-retransmission"]);
        // As k6 counts: what failed is among the values.
        check(
            |run| {
                run.timeouts = 0;
                run.times[1].1 = trend(&[(100.0, Mark::Measured, 995), (0.0, Mark::Measured, 5)]);
            },
            &["failed-as-fast"],
        );
        check(
            |run| run.times[1].1 = trend(&[(100.0, Mark::Measured, 995), (60_000.0, Mark::Measured, 5)]),
            &["censored-timeout"],
        );
    }
}
