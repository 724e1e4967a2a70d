//! k6 v2's layouts: compact and full.

use std::time::Duration;

use model::plan::Compat;

use crate::escape;
use crate::style::BOLD;

use super::table::{Palette, Row, Widths};
use super::{
    CheckSummary, GroupSummary, Layout, MetricSummary, Options, ScenarioSummary, SummaryInput, Values,
    checks, thresholds,
};

const PALETTE: Palette = Palette { dots: "2;37", extra: "2;36" };

/// Indentation of what stands under a title.
const INDENT: usize = 4;

/// Groups within groups are indented up to this depth; deeper ones stand at it.
const DEPTH_MAX: usize = 16;

/// The scenario that a script without scenarios has; k6 gives it no part of its own.
pub(super) const DEFAULT_SCENARIO: &str = "default";

/// A section's title and the built-in metrics in it, in the order of the sections. What is in none is custom.
const SECTIONS: &[(&str, &[&str])] = &[
    (
        "HTTP",
        &[
            "http_req_blocked",
            "http_req_connecting",
            "http_req_duration",
            "http_req_failed",
            "http_req_looking_up",
            "http_req_receiving",
            "http_req_repeats",
            "http_req_response_time",
            "http_req_sending",
            "http_req_tls_handshaking",
            "http_req_waiting",
            "http_reqs",
        ],
    ),
    (
        "EXECUTION",
        &[
            "dropped_iterations",
            "iteration_duration",
            "iteration_failed",
            "iteration_lateness",
            "iteration_response_time",
            "iterations",
            "vus",
            "vus_max",
        ],
    ),
    ("NETWORK", &["data_received", "data_sent"]),
    (
        "WEBSOCKET",
        &[
            "ws_connecting",
            "ws_msgs_received",
            "ws_msgs_sent",
            "ws_ping",
            "ws_session_duration",
            "ws_sessions",
        ],
    ),
    ("GRPC", &["grpc_req_duration", "grpc_streams", "grpc_streams_msgs_received", "grpc_streams_msgs_sent"]),
];

/// Shown elsewhere or nowhere.
const HIDDEN: &[&str] = &["checks", "group_duration"];

/// Phases of a request: the full layout alone shows them.
const FULL_ONLY: &[&str] = &[
    "http_req_blocked",
    "http_req_connecting",
    "http_req_receiving",
    "http_req_sending",
    "http_req_tls_handshaking",
    "http_req_waiting",
];

/// Shown where the script has a threshold on it.
const ON_REQUEST: &str = "http_req_looking_up";

pub(super) fn render(input: &SummaryInput, options: &Options) -> String {
    let metrics = sorted(&input.metrics);
    let mut text = String::new();
    let judged = thresholds::blocks(&metrics, options);
    if !judged.is_empty() {
        text += &title("THRESHOLDS", options);
        text += &format!("\n{}", judged.join("\n"));
    }
    text += &title("TOTAL RESULTS", options);
    let duration = input.run_duration;
    text += &SummarySection { checks: &input.checks, metrics, duration, depth: 0 }.render(options);
    if options.layout == Layout::Full {
        text += &parts(input, options);
    }
    text
}

/// The parts of the full layout: scenarios with their groups, and groups of no scenario in particular.
fn parts(input: &SummaryInput, options: &Options) -> String {
    let duration = input.run_duration;
    let group = |group: &GroupSummary| group_part(group, duration, 0, options);
    let scenario = |scenario: &ScenarioSummary| scenario_part(scenario, duration, options);
    let shown = input.scenarios.iter().filter(|scenario| scenario.name != DEFAULT_SCENARIO);
    let groups: String = input.groups_outside.iter().map(group).collect();
    groups + &shown.map(scenario).collect::<String>()
}

fn scenario_part(scenario: &ScenarioSummary, duration: Duration, options: &Options) -> String {
    let mut text = title(&format!("SCENARIO: {}", escape::terminal(&scenario.name)), options);
    let metrics = sorted(&scenario.metrics);
    text += &SummarySection { checks: &scenario.checks, metrics, duration, depth: 0 }.render(options);
    text + &scenario.groups.iter().map(|group| group_part(group, duration, 1, options)).collect::<String>()
}

fn group_part(group: &GroupSummary, duration: Duration, depth: usize, options: &Options) -> String {
    let name = format!("GROUP: {}", escape::terminal(&group.name));
    let depth = depth.min(DEPTH_MAX);
    let mut text = if depth == 0 {
        title(&name, options)
    } else {
        format!("\n{}↳ {} \n", " ".repeat(2 + 2 * depth), options.style.paint(BOLD, &name))
    };
    text += &SummarySection { checks: &group.checks, metrics: sorted(&group.metrics), duration, depth }
        .render(options);
    text + &group
        .groups
        .iter()
        .map(|inner| group_part(inner, duration, depth + 1, options))
        .collect::<String>()
}

fn title(text: &str, options: &Options) -> String {
    format!("\n\n  █ {} \n", options.style.paint(BOLD, text))
}

/// Checks and metrics under one title.
struct SummarySection<'a> {
    checks: &'a [CheckSummary],
    metrics: Vec<&'a MetricSummary>,
    duration: Duration,
    depth: usize,
}

impl SummarySection<'_> {
    fn render(&self, options: &Options) -> String {
        let mut blocks = Vec::new();
        if let Some((passes, fails)) = self.check_counts() {
            let totals = checks::totals(passes, fails, self.duration, self.indent(), options, &PALETTE);
            blocks.push(totals.join("\n") + "\n");
        }
        if !self.checks.is_empty() {
            blocks.push(self.checks.iter().map(|check| self.check(check, options)).collect());
        }
        blocks.extend(self.sections(options));
        // A group with nothing directly in it is a title and no more.
        blocks.iter().map(|block| format!("\n{block}")).collect()
    }

    /// Passes and fails of all checks. Where each check is not known apart, the metric is.
    fn check_counts(&self) -> Option<(u64, u64)> {
        let metric = self.metrics.iter().find(|metric| metric.name == "checks");
        match metric.map(|metric| &metric.values) {
            Some(Values::Rate { passes, total }) if *total > 0 => Some((*passes, total - passes)),
            _ if self.checks.is_empty() => None,
            _ => {
                let passes = self.checks.iter().map(|check| check.passes).sum();
                Some((passes, self.checks.iter().map(|check| check.fails).sum()))
            }
        }
    }

    fn indent(&self) -> usize {
        INDENT + 2 * self.depth
    }

    fn check(&self, check: &CheckSummary, options: &Options) -> String {
        let paint = |text: &str| options.style.paint(checks::colour(check), text);
        let (line, detail) = checks::lines(check);
        let indent = " ".repeat(self.indent());
        // k6 indents the share by as much again in groups.
        let detail_indent = " ".repeat(2 * self.indent() - 2);
        let detail = detail.map(|detail| format!("{detail_indent}{}\n", paint(&detail))).unwrap_or_default();
        format!("{indent}{}\n{detail}", paint(&line))
    }

    fn sections(&self, options: &Options) -> Vec<String> {
        let shown: Vec<&MetricSummary> =
            self.metrics.iter().copied().filter(|metric| is_shown(metric, &self.metrics, options)).collect();
        let rows: Vec<(&str, Row)> =
            shown.iter().map(|metric| (section_of(metric.parent()), Row::new(metric, options))).collect();
        let widths = Widths::measure(rows.iter().map(|(_, row)| row));
        let indent = " ".repeat(self.indent());
        let titles = ["CUSTOM"].into_iter().chain(SECTIONS.iter().map(|(title, _)| *title));
        let section = |title: &str| {
            let lines = rows.iter().filter(|(section, _)| *section == title);
            let lines: String = lines
                .map(|(_, row)| format!("{indent}{}\n", row.render(&widths, options, &PALETTE)))
                .collect();
            (!lines.is_empty()).then(|| format!("{indent}{}\n{lines}", options.style.paint(BOLD, title)))
        };
        titles.filter_map(section).collect()
    }
}

pub(crate) fn section_of(name: &str) -> &'static str {
    SECTIONS.iter().find(|(_, names)| names.contains(&name)).map_or("CUSTOM", |(title, _)| title)
}

pub(crate) fn is_shown(metric: &MetricSummary, all: &[&MetricSummary], options: &Options) -> bool {
    is_listed(metric, all, options.layout, options.compat) && !metric.is_needless()
}

/// Whether a metric belongs into a summary of this layout; the machine-readable form has the same ones.
pub(super) fn is_listed(
    metric: &MetricSummary,
    all: &[&MetricSummary],
    layout: Layout,
    compat: Compat,
) -> bool {
    let parent = metric.parent();
    if HIDDEN.contains(&parent) || (metric.is_own() && compat == Compat::Strict) {
        return false;
    }
    if parent == ON_REQUEST {
        return all.iter().any(|other| other.parent() == parent && !other.thresholds.is_empty());
    }
    layout == Layout::Full || !FULL_ONLY.contains(&parent)
}

/// Metrics by name, each followed by its sub-metrics.
pub(crate) fn sorted(metrics: &[MetricSummary]) -> Vec<&MetricSummary> {
    let mut sorted: Vec<&MetricSummary> = metrics.iter().collect();
    sorted.sort_by(|a, b| (a.parent(), a.suffix()).cmp(&(b.parent(), b.suffix())));
    sorted
}
