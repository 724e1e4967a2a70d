//! Runs of other tools: as their files' heads, and back as summaries.

use std::path::Path;
use std::time::Duration;

use import::{Figure, Kind, Stated, StatedMetric};
use model::{MetricKind, ValueKind};
use report::summary::{
    CheckSummary, GroupSummary, MetricSummary, Statistic, SummaryInput, ThresholdSummary, Values,
};
use runfile::{Header, Imported, StatedCheckCount, StatedFigure, StatedSeries, StatedSummary, StatedVerdict};

/// Said where a source states that a threshold held or not, and not what was compared.
const UNSTATED: &str = "not in the source";

/// Where a run comes from that is of servers alone.
const EVIDENCE: &str = "evidence";

/// Groups within groups; what is deeper stands in the one at this depth.
const DEPTH_MAX: usize = 64;

/// What is known of a source before its numbers.
pub struct Source<'a> {
    /// The format that it was read from.
    pub kind: Kind,
    /// The file that it was read from.
    pub path: &'a Path,
    /// Facts that the source does not hold.
    pub gaps: Vec<String>,
    /// Figures that are shown as stated.
    pub figures: Vec<Figure>,
    /// Whether the source states the time of its start.
    pub is_start_known: bool,
    /// The start: nanoseconds since 1970.
    pub started_wall_ns: i64,
}

/// The head of an imported run's file; what only some sources tell is added by the caller.
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

/// The head of a file that has what these sources told about some time, and no load.
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

/// A summary in the form that is stored.
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

/// A stated summary as every surface shows it.
pub(super) fn summary_input(stated: &StatedSummary, elapsed: Duration) -> SummaryInput {
    let mut checks: Vec<CheckSummary> = Vec::new();
    let mut root_group = GroupSummary::default();
    for check in &stated.checks {
        let one = CheckSummary { name: check.name.clone(), passes: check.passes, fails: check.fails };
        // Totals do not tell groups apart, as in k6.
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

/// The group with this path, made on the way there.
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

/// A metric; `None` where the file, which may have been edited, lacks a value or a word of it.
fn metric(stated: &StatedSeries) -> Option<MetricSummary> {
    let value = |name: &str| stated.values.iter().find(|(known, _)| known == name).map(|(_, value)| *value);
    let kinds = [MetricKind::Counter, MetricKind::Gauge, MetricKind::Rate, MetricKind::Trend];
    let contents = [ValueKind::Default, ValueKind::Time, ValueKind::Data];
    let values = match kinds.into_iter().find(|kind| kind.as_str() == stated.kind)? {
        MetricKind::Counter => Values::Counter { count: value("count")?, rate: value("rate")? },
        MetricKind::Gauge => Values::Gauge { value: value("value")?, min: value("min")?, max: value("max")? },
        // Counts below 2^53 came out of floats that held them exactly.
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

/// Where a run comes from, for reports.
pub(super) fn of_report(imported: &Imported) -> report::document::Imported {
    report::document::Imported {
        source: imported.source.clone(),
        file: imported.file.clone(),
        is_start_known: imported.is_start_known,
        gaps: imported.gaps.clone(),
        figures: imported.figures.iter().map(figure).collect(),
    }
}

/// One figure, for reports.
pub fn figure(figure: &StatedFigure) -> report::document::StatedFigure {
    report::document::StatedFigure {
        name: figure.name.clone(),
        value: figure.value,
        unit: figure.unit.clone(),
        note: figure.note.clone(),
    }
}
