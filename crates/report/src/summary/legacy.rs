//! The layout of k6 before v2: the tree of checks, then all metrics by name.

use model::plan::Compat;

use crate::escape;

use super::layout::sorted;
use super::table::{Palette, Row, Widths};
use super::{CheckSummary, GroupSummary, Options, SummaryInput, checks};

const PALETTE: Palette = Palette { dots: "2", extra: "36;2" };

/// Indentation of the checks of the root group.
const INDENT: usize = 5;

/// Groups within groups are indented up to this depth; deeper ones stand at it.
const DEPTH_MAX: usize = 16;

pub(super) fn render(input: &SummaryInput, options: &Options) -> String {
    let mut text = String::from("\n");
    group(&input.root_group, 0, options, &mut text);
    let metrics = sorted(&input.metrics);
    let is_strict = options.compat == Compat::Strict;
    let shown = metrics.iter().filter(|metric| !(metric.is_needless() || (metric.is_own() && is_strict)));
    let rows: Vec<Row> = shown.map(|metric| Row::new(metric, options)).collect();
    let widths = Widths::measure(&rows);
    for row in &rows {
        text += &lead(row, options);
        text += row.render(&widths, options, &PALETTE).trim_start();
        text.push('\n');
    }
    text
}

fn group(group_: &GroupSummary, depth: usize, options: &Options, text: &mut String) {
    let indent = INDENT + 2 * depth.min(DEPTH_MAX);
    if depth > 0 {
        *text += &format!("{}█ {}\n\n", " ".repeat(indent - 2), escape::terminal(&group_.name));
    }
    for check in &group_.checks {
        *text += &check_lines(check, indent, options);
    }
    if !group_.checks.is_empty() {
        text.push('\n');
    }
    for inner in &group_.groups {
        group(inner, depth + 1, options, text);
    }
}

fn check_lines(check: &CheckSummary, indent: usize, options: &Options) -> String {
    let (line, detail) = checks::lines(check);
    let mut text = format!("{}{line}", " ".repeat(indent));
    if let Some(detail) = detail {
        text += &format!("\n{}{detail}", " ".repeat(indent + 1));
    }
    options.style.paint(checks::colour(check), &text) + "\n"
}

/// The prefix of a name: the mark of its thresholds, and the indentation of a sub-metric.
fn lead(row: &Row, options: &Options) -> String {
    let (verdict, is_sub) = row.lead();
    let mark = verdict.map_or(" ".into(), |ok| options.style.mark(ok));
    format!("{}{mark} ", if is_sub { "     " } else { "   " })
}
