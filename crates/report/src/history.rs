//! The runs of one script in order, and between which of them something changed.

use analysis::history::{Change, Direction, Figures, RUNS_MIN};
use api::Number;
use api::history::{History, HistoryChange, HistoryFigure, HistoryRun, SCHEMA_VERSION};

use crate::style::{BOLD, GREEN, RED};
use crate::{Lang, Style, escape, number};

/// One figure of every run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// The median duration of requests, in milliseconds.
    P50,
    /// The 95th percentile.
    P95,
    /// The 99th percentile.
    P99,
    /// The share of requests that failed.
    ErrorShare,
    /// Requests per second.
    Requests,
}

impl Figure {
    /// All of them, in the order of the columns.
    pub const ALL: [Figure; 5] =
        [Figure::P50, Figure::P95, Figure::P99, Figure::ErrorShare, Figure::Requests];

    /// Its name in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Figure::P50 => "p50",
            Figure::P95 => "p95",
            Figure::P99 => "p99",
            Figure::ErrorShare => "error_share",
            Figure::Requests => "requests_per_second",
        }
    }

    /// Whether a larger one is worse.
    pub const fn lower_is_better(self) -> bool {
        !matches!(self, Figure::Requests)
    }

    pub(crate) fn title(self, lang: Lang) -> &'static str {
        match self {
            Figure::ErrorShare => lang.comparison_errors(),
            Figure::Requests => lang.history_requests(),
            other => other.as_str(),
        }
    }

    pub(crate) fn text(self, value: f64) -> String {
        match self {
            Figure::ErrorShare => format!("{:.3} %", value * 100.0),
            Figure::Requests => format!("{value:.2}"),
            _ => number::duration(value, None),
        }
    }
}

/// A run in a history. Texts that are not known are empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HistoricRun {
    /// The run's id.
    pub id: String,
    /// The start by the wall clock, nanoseconds since the Unix epoch.
    pub started_unix_ns: i64,
    /// The version of what was tested.
    pub target_version: String,
    /// In the order of [`Figure::ALL`]; `None` where the run has none.
    pub values: [Option<f64>; Figure::ALL.len()],
}

/// The runs of one script, the oldest first.
#[derive(Clone, Debug, Default)]
pub struct HistoryReport {
    /// The runs.
    pub runs: Vec<HistoricRun>,
    /// The changes between them.
    changes: Vec<Change>,
    /// Older runs that were not looked at.
    pub left_out: usize,
}

impl HistoryReport {
    /// Looks for changes among the runs, which are in order.
    pub fn new(runs: Vec<HistoricRun>, left_out: usize) -> HistoryReport {
        let figures = Figure::ALL.iter().enumerate().map(|(place, figure)| Figures {
            name: figure.as_str().to_owned(),
            lower_is_better: figure.lower_is_better(),
            values: runs.iter().map(|run| run.values[place]).collect(),
        });
        let changes = analysis::history::changes(&figures.collect::<Vec<_>>());
        HistoryReport { runs, changes, left_out }
    }

    /// As a table with the changes below it, ending in a line break.
    pub fn text(&self, lang: Lang, style: Style) -> String {
        let mut text = self.table(lang, style) + "\n";
        for change in &self.changes {
            let code = if change.direction == Direction::Improved { GREEN } else { RED };
            text += &format!("{}\n", style.paint(code, &self.sentence(change, lang)));
        }
        if self.changes.is_empty() {
            text += &format!("{}\n", lang.history_no_change());
        }
        if self.runs.len() < RUNS_MIN {
            text += &format!("{}\n", lang.history_too_few(RUNS_MIN));
        }
        if self.left_out > 0 {
            text += &format!("{}\n", lang.history_left_out(self.left_out));
        }
        style.fit(text)
    }

    /// As JSON text in the shape of `docs/format/history.schema.json`, ending in a line break.
    pub fn json(&self) -> String {
        escape::json(&serde_json::to_string_pretty(&self.document()).unwrap_or_default()) + "\n"
    }

    fn table(&self, lang: Lang, style: Style) -> String {
        let head = [lang.run(), lang.started(), lang.target()].map(str::to_owned);
        let head = head.into_iter().chain(Figure::ALL.map(|figure| figure.title(lang).to_owned()));
        let cells = |run: &HistoricRun| -> Vec<String> {
            let known = [
                escape::short(&run.id),
                api::rfc3339_s(run.started_unix_ns),
                escape::short(&run.target_version),
            ];
            let value = |(figure, value): (Figure, Option<f64>)| {
                value.map_or_else(|| "–".to_owned(), |value| figure.text(value))
            };
            known.into_iter().chain(Figure::ALL.into_iter().zip(run.values).map(value)).collect()
        };
        let lines: Vec<Vec<String>> =
            std::iter::once(head.collect()).chain(self.runs.iter().map(cells)).collect();
        let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..lines[0].len()).map(width).collect();
        let line = |(place, line): (usize, &Vec<String>)| {
            let padded: Vec<String> =
                line.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
            let text = padded.join("  ");
            let text = text.trim_end();
            format!("{}\n", if place == 0 { style.paint(BOLD, text) } else { text.to_owned() })
        };
        lines.iter().enumerate().map(line).collect()
    }

    fn sentence(&self, change: &Change, lang: Lang) -> String {
        let figure = Figure::ALL.into_iter().find(|figure| figure.as_str() == change.name);
        let value = |value: f64| figure.map_or_else(|| number::plain(value), |figure| figure.text(value));
        let name = figure.map_or(change.name.as_str(), |figure| figure.title(lang));
        let direction = match change.direction {
            Direction::Improved => lang.comparison_improved(),
            Direction::Regressed => lang.comparison_regressed(),
        };
        let since = self.runs.get(change.run).map_or_else(String::new, |run| escape::short(&run.id));
        let p_value = format!("{:.3}", change.p_value);
        let (before, after) = (value(change.before), value(change.after));
        lang.history_since(name, direction, since, before, after, p_value)
    }

    fn document(&self) -> History {
        let run = |run: &HistoricRun| HistoryRun {
            id: run.id.clone(),
            started: api::rfc3339(run.started_unix_ns),
            target_version: run.target_version.clone(),
            figures: Figure::ALL
                .into_iter()
                .zip(run.values)
                .map(|(figure, value)| HistoryFigure { figure: figure.as_str(), value: value.map(Number) })
                .collect(),
        };
        let change = |change: &Change| HistoryChange {
            figure: change.name.clone(),
            since: self.runs.get(change.run).map_or_else(String::new, |run| run.id.clone()),
            direction: match change.direction {
                Direction::Improved => "improved",
                Direction::Regressed => "regressed",
            },
            before: Number(change.before),
            after: Number(change.after),
            p_value: Number(change.p_value),
        };
        History {
            schema_version: SCHEMA_VERSION,
            runs: self.runs.iter().map(run).collect(),
            runs_left_out: self.left_out as u64,
            changes: self.changes.iter().map(change).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sixteen runs, slower by half from the ninth on.
    fn report() -> HistoryReport {
        let run = |number: usize| {
            let slower = if number >= 8 { 1.5 } else { 1.0 };
            let wobble = 1.0 + (number * 7 % 5) as f64 / 100.0;
            HistoricRun {
                id: format!("{number:08x}"),
                target_version: "\u{1b}[2J".into(),
                values: [Some(10.0), Some(20.0 * slower * wobble), None, Some(0.0), Some(50.0)],
                ..HistoricRun::default()
            }
        };
        HistoryReport::new((0..16).map(run).collect(), 3)
    }

    #[test]
    fn a_change_is_told_with_its_first_run() {
        let text = report().text(Lang::En, Style::PLAIN);
        let expect = "p95 regressed since run 00000008: 20.";
        assert!(text.contains(expect) && text.contains("Older runs not shown: 3"), "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
        let korean = report().text(Lang::Ko, Style::PLAIN);
        assert!(korean.contains("p95 악화: 실행 00000008부터"), "{korean}");
        assert_eq!(report().document().changes.len(), 1);
    }

    #[test]
    fn json_follows_its_schema() {
        const SCHEMA: &str = include_str!("../../../docs/format/history.schema.json");
        crate::report_tests::follows(SCHEMA, &report().json());
    }

    #[test]
    fn few_runs_say_so() {
        let text = HistoryReport::new(vec![HistoricRun::default()], 0).text(Lang::En, Style::PLAIN);
        assert!(
            text.contains("No statistically significant change.") && text.contains("at least 8 runs"),
            "{text}"
        );
    }
}
