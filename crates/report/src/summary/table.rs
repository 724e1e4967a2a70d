//! Rows of metrics, aligned.

use model::plan::Compat;

use crate::escape;
use crate::number;
use crate::style::CYAN;

use super::{MetricSummary, Options, Statistic, Values};

/// Dots between the longest name and its colon.
const DOTS_MIN: usize = 3;

/// A longer name stands out of its column, so that the values of the other rows stay in sight.
const NAME_COLUMNS_MAX: usize = 80;

/// One row, before alignment.
pub(super) struct Row {
    name: String,
    cells: Cells,
    note: Option<String>,
    verdict: Option<bool>,
    is_sub: bool,
}

enum Cells {
    /// Statistics, one column each.
    Trend(Vec<Cell>),
    /// A value, and what is said beside it.
    Plain(String, Vec<String>),
    /// Words in place of values; they have no column.
    Words(String),
}

/// A statistic as it is shown.
struct Cell {
    label: String,
    text: String,
    /// A bound with its reason is long: it stands out of its column, so that it widens no other row.
    is_bound: bool,
}

impl Cell {
    fn width(&self) -> usize {
        width(&self.label) + 1 + width(&self.text)
    }
}

/// Widths that rows shown together share.
#[derive(Default)]
pub(super) struct Widths {
    name: usize,
    value: usize,
    extras: [usize; 2],
    stats: Vec<usize>,
}

/// SGR codes that differ between k6's layouts.
pub(super) struct Palette {
    pub(super) dots: &'static str,
    pub(super) extra: &'static str,
}

impl Row {
    /// The row of a metric; sub-metrics go by their tags.
    pub(super) fn new(metric: &MetricSummary, options: &Options) -> Row {
        let name = match metric.suffix() {
            Some(suffix) => format!("  {{ {} }}", escape::terminal(suffix)),
            None => escape::terminal(&metric.name),
        };
        Row {
            name,
            cells: cells(metric, options),
            note: note(metric, options),
            verdict: metric.verdict(),
            is_sub: metric.suffix().is_some(),
        }
    }

    /// A row that is no metric.
    pub(super) fn plain(name: &str, value: String, extra: String) -> Row {
        Row {
            name: name.to_owned(),
            cells: Cells::Plain(value, vec![extra]),
            note: None,
            verdict: None,
            is_sub: false,
        }
    }

    /// How the metric's thresholds ended, and whether it is a sub-metric: what the legacy layout shows in front.
    pub(super) fn lead(&self) -> (Option<bool>, bool) {
        (self.verdict, self.is_sub)
    }

    /// The row's text, without indentation in front of the name.
    pub(super) fn render(&self, widths: &Widths, options: &Options, palette: &Palette) -> String {
        let style = options.style;
        let dots = ".".repeat(widths.name.saturating_sub(width(&self.name)) + DOTS_MIN);
        let cells = match &self.cells {
            Cells::Trend(stats) => stats
                .iter()
                .zip(&widths.stats)
                .map(|(cell, column)| {
                    let gap = " ".repeat(column.saturating_sub(cell.width()));
                    format!("{}={}{gap}", cell.label, style.paint(CYAN, &cell.text))
                })
                .collect::<Vec<_>>()
                .join(" "),
            Cells::Plain(value, extras) => plain_cells(value, extras, widths, options, palette),
            Cells::Words(words) => style.paint(CYAN, words),
        };
        let note = self.note.as_ref().map(|note| format!(" {}", style.paint(palette.extra, note)));
        let note = note.unwrap_or_default();
        format!("{}{} {cells}{note}", self.name, style.paint(palette.dots, &format!("{dots}:")))
    }
}

impl Widths {
    /// The widths that fit these rows.
    pub(super) fn measure<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Widths {
        let mut widths = Widths::default();
        rows.into_iter().for_each(|row| widths.fit(row));
        widths
    }

    fn fit(&mut self, row: &Row) {
        self.name = self.name.max(width(&row.name).min(NAME_COLUMNS_MAX));
        match &row.cells {
            Cells::Trend(stats) => {
                self.stats.resize(self.stats.len().max(stats.len()), 0);
                for (column, cell) in self.stats.iter_mut().zip(stats).filter(|(_, cell)| !cell.is_bound) {
                    *column = (*column).max(cell.width());
                }
            }
            Cells::Plain(value, extras) => {
                self.value = self.value.max(width(value));
                for (column, extra) in self.extras.iter_mut().zip(extras) {
                    *column = (*column).max(width(extra));
                }
            }
            Cells::Words(_) => {}
        }
    }
}

fn plain_cells(
    value: &str,
    extras: &[String],
    widths: &Widths,
    options: &Options,
    palette: &Palette,
) -> String {
    let painted = options.style.paint(CYAN, value);
    let gap = " ".repeat(widths.value - width(value));
    // One remark ends the row; two are columns.
    let extra = |(extra, column): (&String, &usize)| {
        let gap = if extras.len() > 1 { column - width(extra) } else { 0 };
        format!("{}{}", options.style.paint(palette.extra, extra), " ".repeat(gap))
    };
    let extras: Vec<_> = extras.iter().zip(&widths.extras).map(extra).collect();
    format!("{painted}{gap} {}", extras.join(" "))
}

fn cells(metric: &MetricSummary, options: &Options) -> Cells {
    let value = |number| number::value(number, metric.contains, options.time_unit);
    match &metric.values {
        Values::Counter { count, rate } => Cells::Plain(value(*count), vec![format!("{}/s", value(*rate))]),
        Values::Gauge { value: last, min, max } => {
            Cells::Plain(value(*last), vec![format!("min={}", value(*min)), format!("max={}", value(*max))])
        }
        Values::Rate { passes, total } => {
            Cells::Plain(share(*passes, *total), vec![format!("{passes} out of {total}")])
        }
        Values::Trend { stats, .. } => {
            let cell = |(name, statistic): &(String, Statistic)| Cell {
                label: escape::terminal(name),
                text: statistic_text(*statistic, name, metric, options),
                is_bound: matches!(statistic, Statistic::AtLeast(..)),
            };
            Cells::Trend(stats.iter().map(cell).collect())
        }
        Values::NotApplicable(why) => Cells::Words(format!("n/a: {why}")),
    }
}

/// The precision of a row's numbers.
pub(crate) fn note(metric: &MetricSummary, options: &Options) -> Option<String> {
    if options.compat == Compat::Strict {
        return None;
    }
    let Values::Trend { exact: Some(is_exact), untimed, stats } = &metric.values else { return None };
    let precision = if *is_exact { "exact" } else { "±0.1 %" };
    let is_mean = |(name, statistic): &(String, Statistic)| {
        name == "avg" && matches!(statistic, Statistic::Number(_) | Statistic::AtLeast(..))
    };
    Some(match stats.iter().any(is_mean) && *untimed > 0 {
        true => format!("{precision}, avg without {untimed} failed"),
        false => precision.to_owned(),
    })
}

/// A share in percent; none of none is 0 %.
pub(crate) fn share(passes: u64, total: u64) -> String {
    number::percent(if total == 0 { 0.0 } else { passes as f64 / total as f64 })
}

/// A statistic as it is shown, with a unit.
pub(crate) fn statistic_text(
    statistic: Statistic,
    name: &str,
    metric: &MetricSummary,
    options: &Options,
) -> String {
    match statistic {
        Statistic::Number(value) => {
            number::statistic(value, name, metric.kind(), metric.contains, options.time_unit)
        }
        Statistic::AtLeast(bound, why) => number::at_least(bound, why, metric.contains),
        Statistic::Failed => "failed".into(),
        Statistic::NotApplicable(why) => format!("n/a: {why}"),
    }
}

/// Columns that a text takes.
pub(super) fn width(text: &str) -> usize {
    text.chars().count()
}
