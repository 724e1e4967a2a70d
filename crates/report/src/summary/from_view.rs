//! Builds the summary from the totals of the crate `tally`.

use model::metric::builtin;
use model::plan::{Compat, Plan};
use model::{Aggregate, Mark, Metric, MetricId, MetricKind, Quantile, ThresholdResult};
use tally::{CheckView, DUE_TIMED, GroupView, MetricView, ScenarioView, Stat, SubMetricView, View};

use super::layout::DEFAULT_SCENARIO;
use super::{
    CheckSummary, GroupSummary, MetricSummary, ScenarioSummary, Statistic, SummaryInput, ThresholdSummary,
    Values,
};

/// Why a run without arrival rates has no response times.
const CLOSED_LOOP: &str = "closed loop";

/// The few facts of a plan that decide what a summary shows; a stored run has them without its plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SummaryFacts {
    /// Columns of trends, as written: `avg`, `med`, `p(99.9)`, `count`, …
    pub trend_stats: Vec<String>,
    /// Whose numbers are reported.
    pub compat: Compat,
    /// No scenario has due times.
    pub is_closed: bool,
}

impl SummaryFacts {
    /// Those of a plan.
    pub fn new(plan: &Plan) -> SummaryFacts {
        SummaryFacts {
            trend_stats: plan.summary.trend_stats.clone(),
            compat: plan.compat,
            is_closed: !plan.scenarios.iter().any(|one| one.executor.is_open()),
        }
    }
}

impl SummaryInput {
    /// Everything that a summary of this run shows.
    pub fn from_view(
        view: &View,
        facts: &SummaryFacts,
        setup_data: Option<serde_json::Value>,
    ) -> SummaryInput {
        let reader = Reader { facts };
        let mut metrics: Vec<MetricSummary> =
            view.metrics.iter().flat_map(|metric| reader.with_sub_metrics(metric)).collect();
        metrics.extend(reader.closed_loop(view));
        let mut scenarios: Vec<_> = view.scenarios.iter().map(|one| reader.scenario(one)).collect();
        // k6 shows scenarios by name, whichever started first.
        scenarios.sort_by(|a, b| a.name.cmp(&b.name));
        SummaryInput {
            validity: None,
            run_duration: view.elapsed,
            metrics,
            checks: checks_by_name(&view.checks),
            root_group: reader.group(&view.root_group),
            groups_outside: reader.groups_outside(view),
            scenarios,
            setup_data,
        }
    }
}

impl Values {
    /// The values of an aggregate by itself, such as one endpoint's; `stats` are a trend's columns.
    pub fn from_aggregate(aggregate: &Aggregate, stats: &[String], elapsed: std::time::Duration) -> Values {
        values(aggregate, stats, &|name| Stat::parse(name)?.read(aggregate, elapsed))
    }
}

impl Values {
    /// No values of a metric of this kind.
    pub fn empty(kind: MetricKind) -> Values {
        values(&Aggregate::empty(kind), &[], &|_| None)
    }
}

impl Statistic {
    /// Builds a statistic from a value and its caveat.
    pub fn new(value: f64, mark: Mark) -> Statistic {
        match mark {
            Mark::Measured => Statistic::Number(value),
            Mark::TimedOut | Mark::Cut => Statistic::AtLeast(value, word(mark)),
            Mark::Dropped | Mark::Failed => Statistic::Failed,
        }
    }

    /// The statistic that was compared with a threshold's limit, and its precision.
    pub fn of_quantile(quantile: Quantile) -> Statistic {
        statistic_of(quantile)
    }
}

/// Turns what was added up into what is shown.
struct Reader<'a> {
    facts: &'a SummaryFacts,
}

impl Reader<'_> {
    /// A run without arrival rates has no due times, and says so where it has requests.
    fn closed_loop(&self, view: &View) -> Option<MetricSummary> {
        let (name, _, contains) = builtin::TABLE[usize::from(builtin::HTTP_REQ_RESPONSE_TIME.0)];
        let is_closed = self.facts.compat == Compat::Honest && self.facts.is_closed;
        let applies = is_closed && view.metric("http_reqs").is_some() && view.metric(name).is_none();
        applies.then(|| MetricSummary {
            name: name.into(),
            contains,
            values: Values::NotApplicable(CLOSED_LOOP),
            thresholds: vec![],
        })
    }

    /// Why a metric without samples has none, where that is no zero.
    fn absence(&self, metric: MetricId) -> Option<&'static str> {
        DUE_TIMED.contains(&metric).then_some(if self.facts.is_closed { CLOSED_LOOP } else { "no samples" })
    }

    fn with_sub_metrics(&self, metric: &MetricView) -> Vec<MetricSummary> {
        let sub_metric = |sub: &SubMetricView| {
            let read = |name: &str| sub.stat(name);
            self.summary(sub.name.clone(), &metric.metric, &sub.aggregate, &sub.thresholds, &read)
        };
        let mut all = vec![self.of_metric(metric)];
        all.extend(metric.sub_metrics.iter().map(sub_metric));
        all
    }

    fn of_metric(&self, metric: &MetricView) -> MetricSummary {
        let read = |name: &str| metric.stat(name);
        let name = metric.metric.name.to_string();
        self.summary(name, &metric.metric, &metric.aggregate, &metric.thresholds, &read)
    }

    fn summary(
        &self,
        name: String,
        metric: &Metric,
        aggregate: &Aggregate,
        thresholds: &[ThresholdResult],
        read: &dyn Fn(&str) -> Option<Quantile>,
    ) -> MetricSummary {
        let absence = self.absence(metric.id).filter(|_| aggregate.is_empty());
        let values = match absence {
            Some(why) => Values::NotApplicable(why),
            None => values(aggregate, &self.facts.trend_stats, read),
        };
        let thresholds = thresholds.iter().map(|result| threshold(result, absence)).collect();
        MetricSummary { name, contains: metric.contains, values, thresholds }
    }

    fn scenario(&self, view: &ScenarioView) -> ScenarioSummary {
        ScenarioSummary {
            name: view.name.to_string(),
            checks: checks_by_name(&view.checks),
            metrics: self.metrics(&view.metrics),
            groups: view.root_group.groups.iter().map(|group| self.group(group)).collect(),
        }
    }

    /// The groups of `setup()`, of `teardown()`, and of the scenario that a script without scenarios has: k6 gives it no part.
    fn groups_outside(&self, view: &View) -> Vec<GroupSummary> {
        let default = view.scenarios.iter().filter(|scenario| &*scenario.name == DEFAULT_SCENARIO);
        let roots = default.map(|scenario| &scenario.root_group).chain([&view.root_group_outside]);
        let mut groups: Vec<&GroupView> = roots.flat_map(|root| &root.groups).collect();
        groups.sort_by_key(|group| group.first);
        groups.into_iter().map(|group| self.group(group)).collect()
    }

    fn group(&self, view: &GroupView) -> GroupSummary {
        GroupSummary {
            name: view.name.clone(),
            path: view.path.clone(),
            groups: view.groups.iter().map(|inner| self.group(inner)).collect(),
            checks: view.checks.iter().map(check).collect(),
            metrics: self.metrics(&view.metrics),
        }
    }

    fn metrics(&self, views: &[MetricView]) -> Vec<MetricSummary> {
        views.iter().map(|metric| self.of_metric(metric)).collect()
    }
}

fn values(aggregate: &Aggregate, stats: &[String], read: &dyn Fn(&str) -> Option<Quantile>) -> Values {
    let statistic = |name: &str| read(name).map_or(Statistic::Number(0.0), statistic_of);
    let number = |name: &str| match statistic(name) {
        Statistic::Number(value) | Statistic::AtLeast(value, _) => value,
        Statistic::Failed | Statistic::NotApplicable(_) => 0.0,
    };
    match aggregate {
        Aggregate::Counter(_) => Values::Counter { count: number("count"), rate: number("rate") },
        Aggregate::Gauge(_) => {
            Values::Gauge { value: number("value"), min: number("min"), max: number("max") }
        }
        Aggregate::Rate(rate) => Values::Rate { passes: rate.passes, total: rate.total },
        Aggregate::Trend(trend) => Values::Trend {
            stats: stats.iter().map(|name| (name.clone(), statistic(name))).collect(),
            exact: (trend.population() > 0).then(|| trend.is_exact()),
            untimed: trend.failures.as_ref().map_or(0, |failures| failures.failed),
        },
    }
}

fn threshold(result: &ThresholdResult, absence: Option<&'static str>) -> ThresholdSummary {
    // The statistic is what stands before the comparison.
    let name = result.source.split(['<', '>', '=', '!']).next().unwrap_or_default().trim();
    debug_assert!(Stat::parse(name).is_some(), "judged thresholds have a statistic: {:?}", result.source);
    ThresholdSummary {
        source: result.source.clone(),
        ok: result.ok,
        observed: (
            name.to_owned(),
            absence.map_or_else(|| statistic_of(result.observed), Statistic::NotApplicable),
        ),
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

/// Returns one entry per name, since k6's totals do not distinguish groups.
fn checks_by_name(views: &[CheckView]) -> Vec<CheckSummary> {
    let mut checks: Vec<CheckSummary> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for check in views {
        let place = *places.entry(check.name.as_str()).or_insert(checks.len());
        if place == checks.len() {
            checks.push(CheckSummary { name: check.name.clone(), ..CheckSummary::default() });
        }
        checks[place].passes += check.passes;
        checks[place].fails += check.fails;
    }
    checks
}

fn check(view: &CheckView) -> CheckSummary {
    CheckSummary { name: view.name.clone(), passes: view.passes, fails: view.fails }
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
        totals.absorb(&Window { series, ..Window::default() });
        totals.evaluate_at_end(Duration::from_secs(2));
        totals.view(Duration::from_secs(2))
    }

    fn facts() -> SummaryFacts {
        let mut plan = Plan::default();
        plan.summary.trend_stats = ["min", "p(95)"].map(String::from).to_vec();
        SummaryFacts::new(&plan)
    }

    #[track_caller]
    fn check(scenarios: &[&str], layout: Layout, expect: &str) {
        let input = SummaryInput::from_view(&view(scenarios), &facts(), None);
        let actual = render(&input, &Options { layout, ..Options::default() });
        assert_eq!(actual.trim(), expect.trim());
    }

    #[test]
    fn totals_become_a_summary() {
        check(
            &["default"],
            Layout::Compact,
            r"

  █ THRESHOLDS 

    http_req_duration
    ✗ 'p(95) < 500' p(95)=≥ 60 s (timeout)


  █ TOTAL RESULTS 

    checks_total.......: 3      1.5/s
    checks_succeeded...: 66.66% 2 out of 3
    checks_failed......: 33.33% 1 out of 3

    ✗ c
      ↳  66% — ✓ 2 / ✗ 1

    HTTP
    http_req_duration........: min=12ms p(95)=≥ 60 s (timeout) exact
    http_req_response_time...: n/a: closed loop
    http_reqs................: 2 1/s
",
        );
    }

    #[test]
    fn groups_stand_under_their_scenario_or_by_themselves() {
        let titles = |scenarios: &[&str]| {
            let input = SummaryInput::from_view(&view(scenarios), &facts(), None);
            let text = render(&input, &Options { layout: Layout::Full, ..Options::default() });
            let titles = text.lines().filter(|line| line.contains("GROUP:") || line.contains("SCENARIO:"));
            titles.map(|line| line.trim_end().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(titles(&["default"]), ["  █ GROUP: g"]);
        let scenario = |name: &str| [format!("  █ SCENARIO: {name}"), "    ↳ GROUP: g".to_owned()];
        assert_eq!(titles(&["shop"]), scenario("shop"));
        assert_eq!(titles(&["shop", "login"]), [scenario("login"), scenario("shop")].concat());
        let beside = [vec!["  █ GROUP: g".to_owned()], scenario("shop").to_vec()].concat();
        assert_eq!(titles(&["shop", "default"]), beside);
    }
}
