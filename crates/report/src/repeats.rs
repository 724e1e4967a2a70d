//! Runs of one test that were made one after the other: a row for each, and below how far they differ.

use analysis::repeats::{Spread, spread};
use model::Grade;

use crate::history::{Figure, HistoricRun};
use crate::style::{BOLD, width};
use crate::{Lang, Style, escape, validity};

/// A run of a series.
#[derive(Clone, Debug, PartialEq)]
pub struct RepeatedRun {
    /// Which it is of what is compared: `A`, `B`; empty where nothing is.
    pub side: &'static str,
    /// Its figures.
    pub run: HistoricRun,
    /// Its measurement validity.
    pub grade: Grade,
}

/// The line that is printed when a run of a series is over: `run 2 of 6 (B): …`.
pub fn line(number: usize, of: usize, repeated: &RepeatedRun, lang: Lang) -> String {
    let side = if repeated.side.is_empty() { String::new() } else { format!(" ({})", repeated.side) };
    let figures = Figure::ALL.into_iter().zip(repeated.run.values).filter(is_told);
    let known: Vec<String> = figures
        .filter_map(|(figure, value)| Some(format!("{} {}", figure.title(lang), figure.text(value?))))
        .chain(std::iter::once(validity::word(repeated.grade, lang).to_owned()))
        .collect();
    let (number, of, id) = (number.to_string(), of.to_string(), escape::short(&repeated.run.id));
    lang.repeats_line(number, of, side, known.join(", "), id) + "\n"
}

/// Repeats as a table: a row per figure, with its values and their spread; ends in a line break.
pub fn text(runs: &[RepeatedRun], lang: Lang, style: Style) -> String {
    let title = lang.repeats_title(runs.len());
    let head = [
        lang.comparison_figure(),
        lang.comparison_mean(),
        lang.repeats_range(),
        lang.repeats_deviation(),
        lang.repeats_interval(),
        lang.repeats_detectable(),
    ];
    let rows = Figure::ALL.into_iter().enumerate().filter_map(|(place, figure)| {
        let value = |one: &RepeatedRun| Some((figure, one.run.values[place])).filter(is_told)?.1;
        let values: Option<Vec<f64>> = runs.iter().map(value).collect();
        Some(row(figure, &spread(&values?)?, lang))
    });
    let lines: Vec<[String; 6]> = std::iter::once(head.map(str::to_owned)).chain(rows).collect();
    let mut text = format!("{}\n", style.paint(BOLD, &title));
    if lines.len() == 1 {
        text += &format!("  {}\n", lang.repeats_none());
        return style.fit(text);
    }
    text += &table(&lines);
    text += &format!("{}\n", lang.repeats_legend(runs.len()));
    style.fit(text)
}

/// A test without requests has no rate of them.
fn is_told((figure, value): &(Figure, Option<f64>)) -> bool {
    *figure != Figure::Requests || *value != Some(0.0)
}

fn row(figure: Figure, spread: &Spread, lang: Lang) -> [String; 6] {
    let share = |value: f64| match spread.relative(value) {
        Some(share) => format!("{:.1} %", share * 100.0),
        None => "–".to_owned(),
    };
    [
        figure.title(lang).to_owned(),
        figure.text(spread.mean),
        format!("{} … {}", figure.text(spread.min), figure.text(spread.max)),
        share(spread.deviation),
        format!("±{}", share(spread.half_width)),
        share(spread.detectable),
    ]
}

fn table(lines: &[[String; 6]]) -> String {
    let widths: [usize; 6] =
        std::array::from_fn(|column| lines.iter().map(|line| width(&line[column])).max().unwrap_or(0));
    let line = |line: &[String; 6]| {
        let cells =
            line.iter().zip(widths).map(|(cell, most)| format!("{cell}{}", " ".repeat(most - width(cell))));
        format!("  {}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    lines.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(p95: f64, error_share: Option<f64>) -> RepeatedRun {
        let values = [Some(10.0), Some(p95), None, error_share, Some(50.0)];
        let run = HistoricRun { id: "ab12cd34".into(), values, ..HistoricRun::default() };
        RepeatedRun { side: "", run, grade: Grade::Valid }
    }

    #[test]
    fn spreads_are_told_and_what_some_run_lacks_is_not() {
        let runs = [run(80.0, Some(0.0)), run(120.0, Some(0.0)), run(100.0, None)];
        let text = text(&runs, Lang::En, Style::PLAIN);
        let p95: Vec<&str> = text.lines().filter(|line| line.trim_start().starts_with("p95")).collect();
        assert_eq!(p95.len(), 1, "{text}");
        for part in ["100ms", "80ms … 120ms", "20.0 %", "±49.7 %", "60.7 %"] {
            assert!(p95[0].contains(part), "{part} is not in {}", p95[0]);
        }
        assert!(!text.contains("p99") && !text.contains("error rate"), "{text}");
        let korean = super::text(&runs, Lang::Ko, Style::PLAIN);
        assert!(korean.contains("반복 실행 3회"), "{korean}");
    }

    #[test]
    fn one_run_has_no_spread() {
        let text = |runs: &[RepeatedRun]| super::text(runs, Lang::En, Style::PLAIN);
        assert!(text(&[run(80.0, None)]).contains("at least two runs"));
        // Without requests there is nothing to report, whatever the number of runs.
        let mut idle = run(80.0, None);
        idle.run.values = [None, None, None, None, Some(0.0)];
        assert!(text(&[idle.clone(), idle]).contains("at least two runs"));
    }

    #[test]
    fn a_line_names_the_run_and_its_side() {
        let one = RepeatedRun { side: "B", ..run(80.0, Some(0.25)) };
        let line = line(2, 6, &one, Lang::En);
        assert_eq!(
            line,
            "run 2 of 6 (B): p50 10ms, p95 80ms, error rate 25.000 %, requests/s 50.00, VALID  ab12cd34\n"
        );
    }
}
