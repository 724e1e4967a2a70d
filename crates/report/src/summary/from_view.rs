//! The summary of what the room `tally` added up.

use model::metric::builtin;
use model::plan::{Compat, Plan};
use model::{Aggregate, Mark, Quantile, ValueKind};
use tally::{GroupView, MetricView, PartView, Stat, SubMetricView, ThresholdResult, View};

use super::{
    CheckSummary, GroupSummary, MetricSummary, ScenarioSummary, Statistic, SummaryInput, ThresholdSummary,
    Values,
};

impl SummaryInput {
    /// Everything that a summary of this run shows.
    pub fn from_view(view: &View, plan: &Plan, setup_data: Option<serde_json::Value>) -> SummaryInput {
        let stats = &plan.summary.trend_stats;
        let mut metrics: Vec<MetricSummary> =
            view.metrics.iter().flat_map(|metric| with_sub_metrics(metric, stats)).collect();
        metrics.extend(closed_loop(view, plan));
        let root_group = group(&view.root_group, &view.groups, stats);
        let checks = checks_by_name(view);
        let mut scenarios: Vec<_> = view.scenarios.iter().map(|part| scenario(part, stats)).collect();
        // Checks and groups are not counted per scenario; with one scenario they are all its own.
        if let [only] = &mut scenarios[..] {
            only.checks = checks.clone();
            only.groups = root_group.groups.clone();
        }
        SummaryInput { run_duration: view.elapsed, metrics, checks, root_group, scenarios, setup_data }
    }
}

/// A run without arrival rates has no due times, and says so where it has requests.
fn closed_loop(view: &View, plan: &Plan) -> Option<MetricSummary> {
    let (name, _, contains) = builtin::TABLE[usize::from(builtin::HTTP_REQ_RESPONSE_TIME.0)];
    let is_closed = plan.compat == Compat::Honest && !plan.scenarios.iter().any(|one| one.executor.is_open());
    let applies = is_closed && view.metric("http_reqs").is_some() && view.metric(name).is_none();
    applies.then(|| MetricSummary {
        name: name.into(),
        contains,
        values: Values::NotApplicable("closed loop"),
        thresholds: vec![],
    })
}

fn with_sub_metrics(metric: &MetricView, stats: &[String]) -> Vec<MetricSummary> {
    let contains = metric.metric.contains;
    let sub_metric = |sub: &SubMetricView| {
        let read = |name: &str| sub.stat(name);
        summary(sub.name.clone(), contains, &sub.aggregate, &sub.thresholds, stats, &read)
    };
    let mut all = vec![of_metric(metric, stats)];
    all.extend(metric.sub_metrics.iter().map(sub_metric));
    all
}

fn of_metric(metric: &MetricView, stats: &[String]) -> MetricSummary {
    let read = |name: &str| metric.stat(name);
    let (name, contains) = (metric.metric.name.to_string(), metric.metric.contains);
    summary(name, contains, &metric.aggregate, &metric.thresholds, stats, &read)
}

fn summary(
    name: String,
    contains: ValueKind,
    aggregate: &Aggregate,
    thresholds: &[ThresholdResult],
    stats: &[String],
    read: &dyn Fn(&str) -> Option<Quantile>,
) -> MetricSummary {
    let statistic = |name: &str| read(name).map_or(Statistic::Number(0.0), statistic_of);
    let number = |name: &str| match statistic(name) {
        Statistic::Number(value) | Statistic::AtLeast(value, _) => value,
        Statistic::Failed => 0.0,
    };
    let values = match aggregate {
        Aggregate::Counter(_) => Values::Counter { count: number("count"), rate: number("rate") },
        Aggregate::Gauge(_) => {
            Values::Gauge { value: number("value"), min: number("min"), max: number("max") }
        }
        Aggregate::Rate(rate) => Values::Rate { passes: rate.passes, total: rate.total },
        Aggregate::Trend(trend) => Values::Trend {
            stats: stats.iter().map(|name| (name.clone(), statistic(name))).collect(),
            exact: (trend.population() > 0).then(|| trend.is_exact()),
        },
    };
    MetricSummary { name, contains, values, thresholds: thresholds.iter().map(threshold).collect() }
}

fn threshold(result: &ThresholdResult) -> ThresholdSummary {
    // The statistic is what stands before the comparison.
    let name = result.source.split(['<', '>', '=', '!']).next().unwrap_or_default().trim();
    debug_assert!(Stat::parse(name).is_some(), "judged thresholds have a statistic: {:?}", result.source);
    ThresholdSummary {
        source: result.source.clone(),
        ok: result.ok,
        observed: (name.to_owned(), statistic_of(result.observed)),
    }
}

/// Nothing measured is shown as zero, as k6 does.
fn statistic_of(quantile: Quantile) -> Statistic {
    match quantile {
        Quantile::None => Statistic::Number(0.0),
        Quantile::Value(value) => Statistic::Number(value),
        Quantile::AtLeast { bound, why } => Statistic::AtLeast(bound, word(why)),
        Quantile::Failed => Statistic::Failed,
    }
}

fn word(why: Mark) -> &'static str {
    match why {
        Mark::TimedOut => "timeout",
        Mark::Cut => "cut",
        Mark::Dropped => "dropped",
        Mark::Failed => "failed",
        Mark::Measured => "measured",
    }
}

/// One entry per name, since k6's totals do not tell groups apart.
fn checks_by_name(view: &View) -> Vec<CheckSummary> {
    let mut checks: Vec<CheckSummary> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for check in &view.checks {
        let place = *places.entry(check.name.as_str()).or_insert(checks.len());
        if place == checks.len() {
            checks.push(CheckSummary { name: check.name.clone(), ..CheckSummary::default() });
        }
        checks[place].passes += check.passes;
        checks[place].fails += check.fails;
    }
    checks
}

fn group(view: &GroupView, parts: &[PartView], stats: &[String]) -> GroupSummary {
    let part = parts.iter().find(|part| *part.name == *view.path);
    let check = |check: &tally::CheckView| CheckSummary {
        name: check.name.clone(),
        passes: check.passes,
        fails: check.fails,
    };
    GroupSummary {
        name: view.name.clone(),
        path: view.path.clone(),
        groups: view.groups.iter().map(|inner| group(inner, parts, stats)).collect(),
        checks: view.checks.iter().map(check).collect(),
        metrics: part.map(|part| metrics_of(part, stats)).unwrap_or_default(),
    }
}

fn scenario(part: &PartView, stats: &[String]) -> ScenarioSummary {
    ScenarioSummary {
        name: part.name.to_string(),
        metrics: metrics_of(part, stats),
        ..ScenarioSummary::default()
    }
}

fn metrics_of(part: &PartView, stats: &[String]) -> Vec<MetricSummary> {
    part.metrics.iter().map(|metric| of_metric(metric, stats)).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use model::metric::builtin::{CHECKS, HTTP_REQ_DURATION, HTTP_REQS};
    use model::plan::{ThresholdCondition, ThresholdSpec};
    use model::{Instant, MetricRegistry, TagInterner, TagSet, Window};
    use tally::{Recorder, Thresholds, Totals};

    use super::super::{Layout, Options, render};
    use super::*;

    /// Two requests, one of which timed out, and three checks of one name in two groups.
    fn view(scenarios: &[&str]) -> View {
        let (registry, tags) = (Arc::<MetricRegistry>::default(), Arc::<TagInterner>::default());
        let condition = ThresholdCondition {
            source: "p(95) < 500".into(),
            abort_on_fail: false,
            delay_abort_eval: Duration::ZERO,
        };
        let spec = ThresholdSpec { selector: "http_req_duration".into(), conditions: vec![condition] };
        let thresholds = Thresholds::parse(&[spec], &registry).expect("a well-formed threshold");
        let mut totals = Totals::new(registry.clone(), tags.clone(), thresholds);
        let mut recorder = Recorder::new(registry);
        for scenario in scenarios {
            let mut record = |metric, more: &[(&str, &str)], value, mark| {
                let all = more.iter().copied().chain([("scenario", *scenario)]);
                let set = TagSet::new(all.map(|(name, value)| (name.into(), value.into())));
                recorder.record(metric, tags.intern(set), value, mark, Instant::ZERO);
            };
            for (value, mark) in [(12.0, Mark::Measured), (60_000.0, Mark::TimedOut)] {
                record(HTTP_REQS, &[("group", "::g")], 1.0, Mark::Measured);
                record(HTTP_REQ_DURATION, &[("group", "::g")], value, mark);
            }
            for (group, value) in [("::g", 1.0), ("::g", 0.0), ("", 1.0)] {
                record(CHECKS, &[("group", group), ("check", "c")], value, Mark::Measured);
            }
        }
        let series = recorder.take_window();
        totals.absorb(&Window { index: 0, start: Instant::ZERO, end: Instant::ZERO, series });
        totals.evaluate_at_end(Duration::from_secs(2));
        totals.view(Duration::from_secs(2))
    }

    fn plan() -> Plan {
        let mut plan = Plan::default();
        plan.summary.trend_stats = ["min", "p(95)"].map(String::from).to_vec();
        plan
    }

    #[track_caller]
    fn check(scenarios: &[&str], layout: Layout, expect: &str) {
        let input = SummaryInput::from_view(&view(scenarios), &plan(), None);
        let actual = render(&input, &Options { layout, ..Options::default() });
        assert_eq!(actual.trim_end(), expect.trim_end());
    }

    #[test]
    fn totals_become_a_summary() {
        check(
            &["default"],
            Layout::Compact,
            r"

  █ THRESHOLDS 

    http_req_duration
    ✗ 'p(95) < 500' p(95)=> 60 s (timeout)


  █ TOTAL RESULTS 

    checks_total.......: 3      1.5/s
    checks_succeeded...: 66.66% 2 out of 3
    checks_failed......: 33.33% 1 out of 3

    ✗ c
      ↳  66% — ✓ 2 / ✗ 1

    HTTP
    http_req_duration........: min=12ms p(95)=> 60 s (timeout) exact
    http_req_response_time...: n/a: closed loop
    http_reqs................: 2 1/s
",
        );
    }

    #[test]
    fn groups_stand_under_the_only_scenario_or_by_themselves() {
        let titles = |scenarios: &[&str]| {
            let input = SummaryInput::from_view(&view(scenarios), &plan(), None);
            let text = render(&input, &Options { layout: Layout::Full, ..Options::default() });
            let titles = text.lines().filter(|line| line.contains("GROUP:") || line.contains("SCENARIO:"));
            titles.map(|line| line.trim_end().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(titles(&["default"]), ["  █ GROUP: g"]);
        assert_eq!(titles(&["shop"]), ["  █ SCENARIO: shop", "    ↳ GROUP: g"]);
        assert_eq!(titles(&["shop", "login"]), ["  █ GROUP: g", "  █ SCENARIO: shop", "  █ SCENARIO: login"]);
    }
}
