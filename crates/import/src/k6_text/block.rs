//! One summary of a text, line by line.

use std::time::Duration;

use model::{GoDuration, ValueKind};

use super::held;
use super::row::{Row, marked, observed};
use crate::{Figure, Stated, StatedCheck, StatedMetric, StatedThreshold};

/// Larger counts of a check are no counts; sums of smaller ones do not overflow.
const COUNT_MAX: u64 = 1 << 44;

/// Stands for conditions of thresholds, which the older layout does not print.
const CONDITION_UNKNOWN: &str = "(conditions are not in the source)";

/// Where in a summary a line stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Section {
    #[default]
    Whole,
    Thresholds,
    /// Of one scenario or group alone: its metrics are there in the whole already.
    Scenario,
}

/// A summary as far as it was read.
#[derive(Debug, Default)]
pub(super) struct Block {
    script: String,
    running: Option<Running>,
    section: Section,
    metrics: Vec<StatedMetric>,
    checks: Vec<StatedCheck>,
    /// Checks without counts: path and name.
    held: Vec<(String, String)>,
    /// A failed check that waits for its counts.
    failed: Option<(String, String)>,
    /// Groups that are open, with their indentation.
    groups: Vec<(usize, String)>,
    /// The metric that thresholds stand under, and how far the one above it was indented.
    judged: Option<String>,
    judged_parent: Option<(usize, String)>,
    thresholds: Vec<(String, StatedThreshold)>,
    /// Metrics of single scenarios and groups.
    parts_left_out: usize,
    is_modern: bool,
    /// A progress line that came behind the metrics: the end of this summary or the begin of the next.
    trailing: Option<Running>,
}

/// `running (10m03.4s), 000/300 VUs, 33049 complete and 0 interrupted iterations`
#[derive(Clone, Copy, Debug, PartialEq)]
struct Running {
    elapsed: Duration,
    complete: u64,
    interrupted: u64,
}

impl Running {
    fn parse(line: &str) -> Option<Running> {
        let (elapsed, rest) = line.strip_prefix("running (")?.split_once(')')?;
        let (counts, _) = rest.rsplit_once(" interrupted iterations")?;
        let (_, counts) = counts.rsplit_once("VUs, ")?;
        let (complete, interrupted) = counts.split_once(" complete and ")?;
        Some(Running {
            elapsed: GoDuration::parse(elapsed)?.to_std(),
            complete: complete.trim().parse().ok()?,
            interrupted: interrupted.trim().parse().ok()?,
        })
    }
}

impl Block {
    pub(super) fn has_metrics(&self) -> bool {
        !self.metrics.is_empty()
    }

    /// Whether a line belongs to another summary: the head of a test, or a metric that this one has already.
    pub(super) fn is_ended_by(&self, line: &str) -> bool {
        let text = line.trim();
        if !self.has_metrics() || self.section == Section::Scenario && Row::parse(text).is_some() {
            return false;
        }
        // Before v2 the line of progress comes first, and checks stand above the metrics.
        let is_next =
            self.trailing.is_some() && !self.is_modern && (text.starts_with('█') || marked(text).0.is_some());
        let is_head = text.starts_with("execution:")
            || text.starts_with("█ THRESHOLDS")
            || text.starts_with("█ TOTAL RESULTS");
        let is_again = |row: Row<'_>| {
            !row.name.starts_with('{') && self.metrics.iter().any(|known| known.name == row.name)
        };
        is_head || is_next || Row::parse(text).is_some_and(is_again)
    }

    /// Splits off the lines that belong to the next block.
    pub(super) fn split(&mut self) -> Block {
        // v2 prints the last line of progress behind its summary, older versions before it.
        let running = if self.is_modern { None } else { self.trailing.take() };
        Block { running, ..Block::default() }
    }

    pub(super) fn take(&mut self, line: &str) {
        let text = line.trim();
        if text.is_empty() {
            return;
        }
        if let Some(script) = text.strip_prefix("script:").filter(|_| !self.has_metrics()) {
            self.script = script.trim().to_owned();
        } else if let Some(running) = Running::parse(text) {
            if self.has_metrics() { self.trailing = Some(running) } else { self.running = Some(running) }
        } else if let Some(title) =
            text.strip_prefix('█').or_else(|| text.strip_prefix("↳ GROUP:").map(|_| "GROUP:"))
        {
            self.enter(title.trim(), indentation(line));
        } else if let Some(row) = Row::parse(text) {
            self.take_row(row);
        } else if self.section == Section::Thresholds {
            self.take_threshold(text, indentation(line));
        } else if self.section == Section::Whole {
            self.take_check(text);
        }
    }

    fn enter(&mut self, title: &str, indent: usize) {
        self.section = match title {
            "THRESHOLDS" => Section::Thresholds,
            "TOTAL RESULTS" => Section::Whole,
            title if title.starts_with("SCENARIO:") || title.starts_with("GROUP:") => Section::Scenario,
            name => {
                self.groups.retain(|(known, _)| *known < indent);
                let path = self.groups.last().map_or("", |(_, path)| path.as_str());
                self.groups.push((indent, format!("{path}::{name}")));
                return;
            }
        };
        self.is_modern = true;
    }

    fn take_row(&mut self, row: Row<'_>) {
        if self.section == Section::Scenario {
            self.parts_left_out += 1;
            return;
        }
        self.section = Section::Whole;
        let name = match row.name.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
            Some(suffix) => {
                let Some(parent) = self.metrics.iter().rev().find(|metric| !metric.name.contains('{')) else {
                    return;
                };
                format!("{}{{{}}}", parent.name, suffix.trim())
            }
            None => row.name.to_owned(),
        };
        let name = match name.as_str() {
            // v2 has the metric `checks` in three lines.
            "checks_succeeded" => "checks".to_owned(),
            "checks_total" | "checks_failed" => return,
            _ => name,
        };
        if let Some(ok) = row.mark {
            let threshold = StatedThreshold { source: CONDITION_UNKNOWN.to_owned(), ok, observed: None };
            self.thresholds.push((name.clone(), threshold));
        }
        let Row { kind, contains, values, .. } = row;
        self.metrics.push(StatedMetric { name, kind, contains, values, thresholds: Vec::new() });
    }

    /// A metric's name, or a condition under it.
    fn take_threshold(&mut self, text: &str, indent: usize) {
        let (Some(ok), rest) = marked(text) else {
            let parent = self.judged_parent.clone().filter(|(known, _)| indent > *known);
            self.judged = Some(match parent {
                Some((_, parent)) if text.starts_with('{') => format!("{parent}{text}"),
                _ => {
                    self.judged_parent = Some((indent, text.to_owned()));
                    text.to_owned()
                }
            });
            return;
        };
        let Some((source, compared)) = rest.strip_prefix('\'').and_then(|rest| rest.rsplit_once("' ")) else {
            return;
        };
        if let Some(metric) = &self.judged {
            let threshold = StatedThreshold { source: source.to_owned(), ok, observed: observed(compared) };
            self.thresholds.push((metric.clone(), threshold));
        }
    }

    fn take_check(&mut self, text: &str) {
        let path = self.groups.last().map_or_else(String::new, |(_, path)| path.clone());
        if let Some(counts) = text.strip_prefix('↳') {
            if let (Some((group, name)), Some((passes, fails))) = (self.failed.take(), counts_of(counts)) {
                self.checks.push(StatedCheck { group, name, passes, fails });
            }
            return;
        }
        match marked(text) {
            (Some(true), name) => self.held.push((path, name.to_owned())),
            (Some(false), name) => self.failed = Some((path, name.to_owned())),
            (None, _) => {}
        }
    }

    pub(super) fn into_stated(mut self) -> Stated {
        let running = self.trailing.or(self.running);
        let mut figures = Vec::new();
        if let Some(running) = running {
            figures.push(Figure::new("complete iterations", running.complete as f64, "", ""));
            figures.push(Figure::new("interrupted iterations", running.interrupted as f64, "", ""));
        }
        self.count_the_one_that_held();
        figures.extend(self.held.iter().map(|(path, name)| held(path, name)));
        let mut gaps = vec![
            "summary only: no seconds, no histograms, nothing but these figures".to_owned(),
            "figures are rounded as k6 printed them".to_owned(),
        ];
        if self.parts_left_out > 0 {
            gaps.push(format!("{} figures of single scenarios and groups are left out", self.parts_left_out));
        }
        let mut unplaced = Vec::new();
        for (name, threshold) in std::mem::take(&mut self.thresholds) {
            match self.metrics.iter_mut().find(|metric| metric.name == name) {
                Some(metric) => metric.thresholds.push(threshold),
                None => unplaced.push(format!(
                    "'{}' on `{name}` {}",
                    threshold.source,
                    if threshold.ok { "held" } else { "was crossed" }
                )),
            }
        }
        if !unplaced.is_empty() {
            gaps.push(format!(
                "the source states thresholds on metrics that it does not show: {}",
                unplaced.join(", ")
            ));
        }
        if self
            .metrics
            .iter()
            .flat_map(|metric| &metric.thresholds)
            .any(|one| one.source == CONDITION_UNKNOWN)
        {
            gaps.push("the source says which thresholds held and not what they were".to_owned());
        }
        // Durations of nought have a unit; plain noughts are of what the other rows of that name are.
        for metric in &mut self.metrics {
            if let Some((_, contains)) =
                crate::known::metric(&metric.name).filter(|_| metric.contains == ValueKind::Default)
            {
                metric.contains = contains;
            }
        }
        let elapsed = running.map(|running| running.elapsed);
        Stated { script: self.script, elapsed, metrics: self.metrics, checks: self.checks, figures, gaps }
            .settle()
    }

    /// Where one check alone has no count, it has what the others leave of the whole.
    fn count_the_one_that_held(&mut self) {
        let Some(all) =
            self.metrics.iter().find(|metric| metric.name == "checks").and_then(|all| all.value("passes"))
        else {
            return;
        };
        let others: f64 = self.checks.iter().map(|check| check.passes as f64).sum();
        if self.held.len() == 1 && all > others {
            let (group, name) = self.held.remove(0);
            self.checks.push(StatedCheck { group, name, passes: (all - others) as u64, fails: 0 });
        }
    }
}

/// `35% — ✓ 21 / ✗ 39`
fn counts_of(text: &str) -> Option<(u64, u64)> {
    let (passes, fails) = text.split_once('✓')?.1.split_once("/ ✗")?;
    let count = |text: &str| text.trim().parse().ok().filter(|count| *count <= COUNT_MAX);
    Some((count(passes)?, count(fails)?))
}

fn indentation(line: &str) -> usize {
    line.chars().take_while(|c| c.is_whitespace()).count()
}
