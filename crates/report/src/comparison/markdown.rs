//! A comparison as GitHub's Markdown.

use analysis::compare::{Row, Verdict};
use analysis::steady::Steady;

use super::{ComparedRun, ComparisonReport, Tally, sentences, shown};
use crate::Lang;
use crate::escape::markdown_code;
use crate::lang::Words;
use crate::markdown::{BYTES_MAX, Column, Table};

/// Rows that are shown at most; beyond, only changes are.
const ROWS_MAX: usize = 200;

/// Bytes of the list of findings and of each table at most, so that the whole fits.
const PART_BYTES_MAX: usize = BYTES_MAX / 4;

/// Findings that are shown at most, the most serious ones.
const FINDINGS_MAX: usize = 40;

/// The comparison as Markdown of at most [`BYTES_MAX`] bytes.
pub fn render(report: &ComparisonReport, lang: Lang) -> String {
    let words = lang.words();
    let mark = match Tally::of(&report.comparison.rows).verdict() {
        "regressed" => "❌",
        "improved" | "equivalent" => "✅",
        _ => "⚠️",
    };
    let (rows, hidden) = shown(&report.comparison.rows, ROWS_MAX);
    let mut text = format!("## {mark} {}\n", sentences::closing(report, words, &markdown_code));
    text += &format!("\n### {}\n\n{}", words.cmp_comparable, findings(report, words));
    text += &format!("\n### {}\n\n{}", words.cmp_steady, sides(report, words));
    text += &format!("\n### {}\n\n{}", words.cmp_figures, table(&rows, words));
    for caveat in sentences::caveats(report, hidden, words) {
        text += &format!("\n> {caveat}\n");
    }
    text
}

/// The comparison as a section of a report: its closing sentence, whether the runs may be compared, and a row for each figure.
pub(crate) fn section(report: &ComparisonReport, lang: Lang, bytes_max: usize) -> String {
    let words = lang.words();
    let (rows, hidden) = shown(&report.comparison.rows, ROWS_MAX);
    let mut text = format!("{}\n\n{}\n", closing(report, words), sides(report, words));
    text += &table_within(&rows, words, bytes_max);
    if !report.comparison.findings.is_empty() {
        text += &format!("\n{}", findings(report, words));
    }
    let caveats = sentences::caveats(report, hidden, words);
    text + &caveats.iter().map(|caveat| format!("\n> {caveat}\n")).collect::<String>()
}

/// What the rows come to.
pub(crate) fn closing(report: &ComparisonReport, words: &Words) -> String {
    sentences::closing(report, words, &markdown_code)
}

fn findings(report: &ComparisonReport, words: &Words) -> String {
    let findings = &report.comparison.findings;
    if findings.is_empty() {
        return format!("{}\n", words.cmp_no_finding);
    }
    let mut text = String::new();
    for (index, finding) in findings.iter().enumerate() {
        let mark = if finding.refusal().is_some() { "❌" } else { "⚠️" };
        let line = format!("* {mark} {}\n", sentences::finding(finding, words, &markdown_code));
        if index >= FINDINGS_MAX || text.len() + line.len() > PART_BYTES_MAX {
            let more = (findings.len() - index).to_string();
            return text + &format!("* {}\n", crate::lang::fill(words.more_rows, &[&more]));
        }
        text += &line;
    }
    text
}

fn sides(report: &ComparisonReport, words: &Words) -> String {
    let mut table = Table::new(&[
        Column::Left(""),
        Column::Left(words.run),
        Column::Left(words.name),
        Column::Left(words.target),
        Column::Left(words.started),
        Column::Left(words.cmp_steady),
    ]);
    let comparison = &report.comparison;
    let sides = [
        ("A", words.cmp_before, &report.a, &comparison.steady_a),
        ("B", words.cmp_after, &report.b, &comparison.steady_b),
    ];
    for (letter, word, runs, steady) in sides {
        let row = |(run, steady): (&ComparedRun, &Steady)| {
            let known = |text: &str| if text.is_empty() { String::new() } else { markdown_code(text) };
            vec![
                format!("{letter} ({word})"),
                markdown_code(&run.id),
                known(&run.name),
                known(&run.target_version),
                api::rfc3339(run.started_unix_ns),
                sentences::steady(steady, run.seconds, words),
            ]
        };
        runs.iter().zip(steady).map(row).for_each(|row| table.row(row));
    }
    table.render(words, PART_BYTES_MAX)
}

fn table(rows: &[&Row], words: &Words) -> String {
    table_within(rows, words, PART_BYTES_MAX)
}

fn table_within(rows: &[&Row], words: &Words, bytes_max: usize) -> String {
    let mut table = Table::new(&[
        Column::Left(words.cmp_series),
        Column::Left(words.cmp_figure),
        Column::Right(words.cmp_before),
        Column::Right(words.cmp_after),
        Column::Right(words.cmp_change),
        Column::Right("q"),
        Column::Left(words.cmp_verdict),
    ]);
    for row in rows {
        let verdict = sentences::verdict(row.verdict, words);
        let mark = match row.verdict {
            Verdict::Improved => "✅ ",
            Verdict::Regressed => "❌ ",
            _ => "",
        };
        table.row(vec![
            sentences::series(&row.series, words, &markdown_code),
            sentences::figure(row.measure, words),
            sentences::value(row.measure, row.a),
            sentences::value(row.measure, row.b),
            sentences::change(row),
            sentences::q_value(row.q_value).replace('<', "&lt;"),
            if super::is_change(row) { format!("{mark}**{verdict}**") } else { verdict },
        ]);
    }
    table.render(words, bytes_max)
}
