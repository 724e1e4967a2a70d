//! Runs of other tools: converts their facts to run headers, and headers back to summaries.

use std::path::Path;
use std::time::Duration;

use import::{Figure, Kind, Stated, StatedMetric};
use model::{MetricKind, ValueKind};
use report::summary::{
    CheckSummary, GroupSummary, MetricSummary, Statistic, SummaryInput, ThresholdSummary, Values,
};
use runfile::{Header, Imported, StatedCheckCount, StatedFigure, StatedSeries, StatedSummary, StatedVerdict};

/// The condition shown if a source states whether a threshold held, but not what it compared.
const UNSTATED: &str = "not in the source";

/// The source name of runs that hold only server-side evidence.
const EVIDENCE: &str = "evidence";

/// Maximum depth of nested groups; deeper ones count for their ancestor at this depth.
const DEPTH_MAX: usize = 64;

/// Facts about a source, known before its numbers.
pub struct Source<'a> {
    /// The format of the source.
    pub kind: Kind,
    /// The file of the source.
    pub path: &'a Path,
    /// Facts that the source lacks.
    pub gaps: Vec<String>,
    /// Figures shown as the source states them.
    pub figures: Vec<Figure>,
    /// Whether the source states its start time.
    pub is_start_known: bool,
    /// The start, nanoseconds since 1970.
    pub started_wall_ns: i64,
}

/// Returns the header of an imported run; the caller adds fields that only some sources have.
pub fn header(source: &Source<'_>, run_id: &str) -> Header {
    let file = source.path.file_name().unwrap_or(source.path.as_os_str()).to_string_lossy().into_owned();
    let figures =
        source.figures.iter().filter(|figure| figure.value.is_finite()).map(|figure| StatedFigure {
            name: figure.name.clone(),
            value: figure.value,
            unit: figure.unit.clone(),
            note: figure.note.clone(),
        });
    let imported = Imported {
        source: source.kind.as_str().to_owned(),
        file,
        is_start_known: source.is_start_known,
        gaps: source.gaps.clone(),
        figures: figures.collect(),
        summary: None,
    };
    head(imported, source.started_wall_ns, run_id)
}

/// Returns the header of a run without load that holds evidence from these sources.
pub fn evidence_header(sources: &[String], started_wall_ns: i64, run_id: &str) -> Header {
    let imported = Imported {
        source: EVIDENCE.to_owned(),
        file: sources.join(", "),
        is_start_known: true,
        gaps: vec!["requests: no load was made, and servers were asked about this time alone".to_owned()],
        ..Imported::default()
    };
    head(imported, started_wall_ns, run_id)
}

fn head(imported: Imported, started_wall_ns: i64, run_id: &str) -> Header {
    Header {
        run_id: run_id.to_owned(),
        started_wall_ns,
        started_ns: import::RUN_START.as_ns(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: crate::build::commit(),
        imported: Some(Box::new(imported)),
        ..Header::default()
    }
}

/// Converts a summary to its stored form.
pub fn stated_summary(stated: &Stated) -> StatedSummary {
    let check = |check: &import::StatedCheck| StatedCheckCount {
        group: check.group.clone(),
        name: check.name.clone(),
        passes: check.passes,
        fails: check.fails,
    };
    StatedSummary {
        metrics: stated.metrics.iter().map(stored_metric).collect(),
        checks: stated.checks.iter().map(check).collect(),
    }
}

fn stored_metric(metric: &StatedMetric) -> StatedSeries {
    let threshold = |threshold: &import::StatedThreshold| StatedVerdict {
        source: threshold.source.clone(),
        ok: threshold.ok,
        observed: threshold.observed.filter(|value| value.is_finite()),
    };
    StatedSeries {
        name: metric.name.clone(),
        kind: metric.kind.as_str().to_owned(),
        contains: metric.contains.as_str().to_owned(),
        values: metric.values.clone(),
        thresholds: metric.thresholds.iter().map(threshold).collect(),
    }
}

/// Converts a stored summary to the form that every report and screen shows.
pub(super) fn summary_input(stated: &StatedSummary, elapsed: Duration) -> SummaryInput {
    let mut checks: Vec<CheckSummary> = Vec::new();
    let mut root_group = GroupSummary::default();
    for check in &stated.checks {
        let one = CheckSummary { name: check.name.clone(), passes: check.passes, fails: check.fails };
        // Totals ignore groups, as in k6.
        match checks.iter_mut().find(|known| known.name == check.name) {
            Some(known) => {
                known.passes = known.passes.saturating_add(check.passes);
                known.fails = known.fails.saturating_add(check.fails);
            }
            None => checks.push(one.clone()),
        }
        group_at(&mut root_group, &check.group).checks.push(one);
    }
    SummaryInput {
        run_duration: elapsed,
        metrics: stated.metrics.iter().filter_map(metric).collect(),
        checks,
        root_group,
        ..SummaryInput::default()
    }
}

/// Returns the group with this path; creates missing groups.
fn group_at<'a>(root: &'a mut GroupSummary, path: &str) -> &'a mut GroupSummary {
    let mut group = root;
    for name in path.split("::").filter(|name| !name.is_empty()).take(DEPTH_MAX) {
        let known = group.groups.iter().position(|inner| inner.name == name);
        let place = known.unwrap_or_else(|| {
            let path = format!("{}::{name}", group.path);
            group.groups.push(GroupSummary { name: name.to_owned(), path, ..GroupSummary::default() });
            group.groups.len() - 1
        });
        group = &mut group.groups[place];
    }
    group
}

/// Converts a metric; `None` if the file, which may have been edited, lacks a value or has an unknown word.
fn metric(stated: &StatedSeries) -> Option<MetricSummary> {
    let value = |name: &str| stated.values.iter().find(|(known, _)| known == name).map(|(_, value)| *value);
    let kinds = [MetricKind::Counter, MetricKind::Gauge, MetricKind::Rate, MetricKind::Trend];
    let contents = [ValueKind::Default, ValueKind::Time, ValueKind::Data];
    let values = match kinds.into_iter().find(|kind| kind.as_str() == stated.kind)? {
        MetricKind::Counter => Values::Counter { count: value("count")?, rate: value("rate")? },
        MetricKind::Gauge => Values::Gauge { value: value("value")?, min: value("min")?, max: value("max")? },
        // Counts below 2^53 are exact in floats.
        MetricKind::Rate => Values::Rate { passes: value("passes")? as u64, total: value("total")? as u64 },
        MetricKind::Trend => Values::Trend {
            stats: stated
                .values
                .iter()
                .map(|(name, value)| (name.clone(), Statistic::Number(*value)))
                .collect(),
            exact: None,
            untimed: 0,
        },
    };
    Some(MetricSummary {
        name: stated.name.clone(),
        contains: contents.into_iter().find(|contains| contains.as_str() == stated.contains)?,
        values,
        thresholds: stated.thresholds.iter().map(threshold).collect(),
    })
}

fn threshold(stated: &StatedVerdict) -> ThresholdSummary {
    let name = stated.source.split(['<', '>', '=', '!']).next().unwrap_or_default().trim();
    let observed = stated.observed.map_or(Statistic::NotApplicable(UNSTATED), Statistic::Number);
    ThresholdSummary { source: stated.source.clone(), ok: stated.ok, observed: (name.to_owned(), observed) }
}

/// Returns the origin of a run for reports.
pub(super) fn of_report(imported: &Imported) -> report::document::Imported {
    report::document::Imported {
        source: imported.source.clone(),
        file: imported.file.clone(),
        is_start_known: imported.is_start_known,
        gaps: imported.gaps.clone(),
        figures: imported.figures.iter().map(figure).collect(),
    }
}

/// Converts a figure for reports.
pub fn figure(figure: &StatedFigure) -> report::document::StatedFigure {
    report::document::StatedFigure {
        name: figure.name.clone(),
        value: figure.value,
        unit: figure.unit.clone(),
        note: figure.note.clone(),
    }
}
