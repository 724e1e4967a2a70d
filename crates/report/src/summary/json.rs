//! The summary as JSON: for `handleSummary`, for `--summary-export`, and for `--new-machine-readable-summary`.

use api::{
    Check, ExportGroup, ExportMetric, Group, MachineCheck, MachineChecks, MachineConfig, MachineMetadata,
    MachineMetric, MachineResults, MachineSummary, MetricData, Number, Ordered, SummaryData,
    SummaryDataOptions, SummaryExport, SummaryState, ThresholdData, path_id,
};
use model::plan::{Compat, SummaryOptions, TimeUnit};

use crate::number;

use super::{CheckSummary, GroupSummary, Layout, MetricSummary, Statistic, SummaryInput, Values, layout};

/// The k6 version whose JSON shapes are written.
const K6_VERSION: &str = "2.2.0";

/// The data that `handleSummary` gets beside the results.
#[derive(Clone, Copy, Debug)]
pub struct RunFacts<'a> {
    /// The content of the summary.
    pub options: &'a SummaryOptions,
    /// Colour was refused.
    pub no_color: bool,
    /// Standard output is a terminal.
    pub stdout_is_terminal: bool,
    /// Standard error is a terminal.
    pub stderr_is_terminal: bool,
    /// Under [`Compat::Strict`], k6's metrics and keys alone.
    pub compat: Compat,
}

/// The argument of `handleSummary`.
pub fn handle_summary_data(input: &SummaryInput, facts: &RunFacts<'_>) -> SummaryData {
    let threshold = |ok| ThresholdData { ok };
    let data = |metric: &MetricSummary| {
        let (values, censored) = values(metric, Form::Data, facts.compat);
        let thresholds = metric.thresholds.iter().map(|t| (t.source.clone(), threshold(t.ok))).collect();
        let kind = metric.kind().as_str();
        (
            metric.name.clone(),
            MetricData { kind, contains: metric.contains.as_str(), values, thresholds, censored },
        )
    };
    SummaryData {
        root_group: group(&input.root_group),
        options: SummaryDataOptions {
            summary_trend_stats: facts.options.trend_stats.clone(),
            summary_time_unit: unit_name(facts.options.time_unit).to_owned(),
            no_color: facts.no_color,
        },
        state: SummaryState {
            is_std_out_tty: facts.stdout_is_terminal,
            is_std_err_tty: facts.stderr_is_terminal,
            test_run_duration_ms: Number(input.run_duration.as_nanos() as f64 / 1e6),
        },
        metrics: shown(input, facts.compat).map(data).collect(),
        setup_data: input.setup_data.clone(),
    }
}

/// The document of `--summary-export`.
pub fn export(input: &SummaryInput, compat: Compat) -> SummaryExport {
    let metric = |metric: &MetricSummary| {
        let (values, censored) = values(metric, Form::Export, compat);
        let thresholds = metric.thresholds.iter().map(|t| (t.source.clone(), !t.ok)).collect();
        (metric.name.clone(), ExportMetric { values, thresholds, censored })
    };
    SummaryExport {
        root_group: export_group(&input.root_group),
        metrics: shown(input, compat).map(metric).collect(),
        setup_data: input.setup_data.clone(),
    }
}

/// The document of `--new-machine-readable-summary`: the metrics that the layout shows. `generated_at` is RFC 3339; `script` is its
/// whole text.
pub fn machine_summary(
    input: &SummaryInput,
    layout: Layout,
    compat: Compat,
    script: &str,
    generated_at: String,
) -> MachineSummary {
    let metric = |metric: &MetricSummary| {
        let (values, censored) = values(metric, Form::Machine, compat);
        let kind = metric.kind().as_str();
        MachineMetric {
            contains: metric.contains.as_str(),
            name: metric.name.clone(),
            kind,
            values,
            censored,
        }
    };
    let all: Vec<&MetricSummary> = input.metrics.iter().collect();
    let is_listed = |metric: &&MetricSummary| layout::is_listed(metric, &all, layout, compat);
    let metrics = shown(input, compat).filter(is_listed).map(metric).collect();
    MachineSummary {
        config: MachineConfig {
            duration: Number(input.run_duration.as_secs_f64()),
            execution: "local",
            script: script.to_owned(),
        },
        metadata: MachineMetadata { generated_at, k6_version: K6_VERSION },
        results: MachineResults { checks: machine_checks(&input.checks), metrics },
        version: MachineSummary::VERSION,
    }
}

fn shown(input: &SummaryInput, compat: Compat) -> impl Iterator<Item = &MetricSummary> {
    // Metrics that cannot have values are omitted, unless they have verdicts.
    let has_values = |metric: &&MetricSummary| {
        !matches!(metric.values, Values::NotApplicable(_)) || !metric.thresholds.is_empty()
    };
    input.metrics.iter().filter(has_values).filter(move |metric| compat == Compat::Honest || !metric.is_own())
}

/// Which of k6's shapes values are for.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    Data,
    Export,
    Machine,
}

/// A metric's values, and those of them that are bounds or missing in words.
fn values(metric: &MetricSummary, form: Form, compat: Compat) -> (Ordered<Option<Number>>, Ordered<String>) {
    let named = |pairs: &[(&str, f64)]| {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), Some(Number(*value)))).collect()
    };
    let values = match &metric.values {
        Values::Counter { count, .. } if form == Form::Machine => named(&[("count", *count)]),
        Values::Counter { count, rate } => named(&[("count", *count), ("rate", *rate)]),
        Values::Gauge { value, min, max } => named(&[("value", *value), ("min", *min), ("max", *max)]),
        Values::Rate { passes, total } => rate(*passes, *total, form),
        Values::Trend { stats, .. } if form == Form::Machine => {
            return (machine_stats(stats, compat), censored(stats, metric, form));
        }
        Values::Trend { stats, .. } => {
            let number = |(name, statistic): &(String, Statistic)| (key(name, form), number_of(*statistic));
            return (stats.iter().map(number).collect(), censored(stats, metric, form));
        }
        Values::NotApplicable(_) => Ordered::default(),
    };
    (values, Ordered::default())
}

fn rate(passes: u64, total: u64, form: Form) -> Ordered<Option<Number>> {
    let fails = total.saturating_sub(passes);
    let share = if total == 0 { 0.0 } else { passes as f64 / total as f64 };
    let (passes, fails, total) = (passes as f64, fails as f64, total as f64);
    let pairs = match form {
        Form::Data => [("rate", share), ("passes", passes), ("fails", fails)],
        Form::Export => [("value", share), ("passes", passes), ("fails", fails)],
        Form::Machine => [("matches", passes), ("rate", share), ("total", total)],
    };
    pairs.into_iter().map(|(name, value)| (name.to_owned(), Some(Number(value)))).collect()
}

fn number_of(statistic: Statistic) -> Option<Number> {
    match statistic {
        Statistic::Number(value) | Statistic::AtLeast(value, _) => Some(Number(value)),
        Statistic::Failed | Statistic::NotApplicable(_) => None,
    }
}

/// Statistics that k6's machine-readable form has of every trend, whatever `summaryTrendStats` asks for.
const MACHINE_STATS: [&str; 6] = ["avg", "max", "med", "min", "p(90)", "p(95)"];

/// Those, `null` where they were not asked for, as in k6; and beside them what else was asked for, which k6 drops.
fn machine_stats(stats: &[(String, Statistic)], compat: Compat) -> Ordered<Option<Number>> {
    let of = |name: &str| stats.iter().find(|(known, _)| known == name).map(|(_, statistic)| *statistic);
    let fixed = MACHINE_STATS.iter().map(|name| (key(name, Form::Machine), of(name).and_then(number_of)));
    let further = stats
        .iter()
        .filter(|(name, _)| compat == Compat::Honest && !MACHINE_STATS.contains(&name.as_str()))
        .map(|(name, statistic)| (key(name, Form::Machine), number_of(*statistic)));
    fixed.chain(further).collect()
}

fn censored(stats: &[(String, Statistic)], metric: &MetricSummary, form: Form) -> Ordered<String> {
    let words = |(name, statistic): &(String, Statistic)| match statistic {
        Statistic::Number(_) => None,
        Statistic::AtLeast(bound, why) => {
            Some((key(name, form), number::at_least(*bound, why, metric.contains)))
        }
        Statistic::Failed => Some((key(name, form), "failed".to_owned())),
        Statistic::NotApplicable(why) => Some((key(name, form), format!("n/a: {why}"))),
    };
    stats.iter().filter_map(words).collect()
}

/// The machine-readable shape spells `p(95)` as `p95`.
fn key(name: &str, form: Form) -> String {
    if form == Form::Machine { name.replace(['(', ')'], "") } else { name.to_owned() }
}

fn machine_checks(checks: &[CheckSummary]) -> Option<MachineChecks> {
    if checks.is_empty() {
        return None;
    }
    let passes: u64 = checks.iter().map(|check| check.passes).sum();
    let total = passes + checks.iter().map(|check| check.fails).sum::<u64>();
    let metric = |name: &str, kind, values| MachineMetric {
        contains: "default",
        name: name.to_owned(),
        kind,
        values,
        censored: Ordered::default(),
    };
    let count = [("count".to_owned(), Some(Number(total as f64)))].into_iter().collect();
    let result = |check: &CheckSummary| MachineCheck {
        fails: check.fails,
        name: check.name.clone(),
        passes: check.passes,
    };
    Some(MachineChecks {
        metrics: vec![
            metric("checks_total", "counter", count),
            metric("checks_failed", "rate", rate(total - passes, total, Form::Machine)),
            metric("checks_succeeded", "rate", rate(passes, total, Form::Machine)),
        ],
        results: checks.iter().map(result).collect(),
    })
}

/// A tree of groups and checks as JSON has it.
pub fn group(summary: &GroupSummary) -> Group {
    Group {
        name: summary.name.clone(),
        path: summary.path.clone(),
        id: path_id(&summary.path),
        groups: summary.groups.iter().map(group).collect(),
        checks: summary.checks.iter().map(|one| check(one, &summary.path)).collect(),
    }
}

fn export_group(summary: &GroupSummary) -> ExportGroup {
    ExportGroup {
        name: summary.name.clone(),
        path: summary.path.clone(),
        id: path_id(&summary.path),
        groups: summary.groups.iter().map(|inner| (inner.name.clone(), export_group(inner))).collect(),
        checks: summary.checks.iter().map(|one| (one.name.clone(), check(one, &summary.path))).collect(),
    }
}

fn check(summary: &CheckSummary, group_path: &str) -> Check {
    let path = format!("{group_path}::{}", summary.name);
    Check {
        name: summary.name.clone(),
        id: path_id(&path),
        path,
        passes: summary.passes,
        fails: summary.fails,
    }
}

fn unit_name(unit: Option<TimeUnit>) -> &'static str {
    match unit {
        None => "",
        Some(TimeUnit::Seconds) => "s",
        Some(TimeUnit::Milliseconds) => "ms",
        Some(TimeUnit::Microseconds) => "us",
    }
}
