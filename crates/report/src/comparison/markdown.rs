//! A comparison as GitHub's Markdown.

use analysis::compare::{Row, Verdict};
use analysis::steady::Steady;

use super::{ComparedRun, ComparisonReport, Tally, evidence, sentences, shown};
use crate::Lang;
use crate::escape::markdown_code;
use crate::markdown::{BYTES_MAX, Column, Table};

/// Rows that are shown at most; beyond, only changes are.
const ROWS_MAX: usize = 200;

/// Bytes of the list of findings and of each table at most, so that the whole fits.
const PART_BYTES_MAX: usize = BYTES_MAX / 5;

/// Findings that are shown at most, the most serious ones.
const FINDINGS_MAX: usize = 40;

/// The comparison as Markdown of at most [`BYTES_MAX`] bytes.
pub fn render(report: &ComparisonReport, lang: Lang) -> String {
    let mark = mark(Tally::count(&report.comparison.rows));
    let (rows, hidden) = shown(&report.comparison, ROWS_MAX);
    let mut text = format!("## {mark} {}\n", sentences::answer(report, lang, &markdown_code));
    text += &format!("\n{}\n", sentences::closing(report, lang, &markdown_code));
    text += &format!("\n### {}\n\n{}", lang.comparison_comparable(), findings(report, lang));
    text += &format!("\n### {}\n\n{}", sentences::parts(report, lang), sides(report, lang));
    text += &format!("\n### {}\n\n{}", lang.comparison_figures(), table(&rows, report, lang));
    text += &evidence_part(report, lang);
    for caveat in sentences::caveats(report, hidden, lang) {
        text += &format!("\n> {caveat}\n");
    }
    text
}

/// The mark of a verdict on all rows.
pub(super) fn mark(tally: Tally) -> &'static str {
    match tally.verdict() {
        "regressed" => "❌",
        "improved" | "equivalent" => "✅",
        _ => "⚠️",
    }
}

/// The comparison as a section of a report: its closing sentence, whether the runs may be compared, and a row for each figure.
pub(crate) fn section(report: &ComparisonReport, lang: Lang, bytes_max: usize) -> String {
    let (rows, hidden) = shown(&report.comparison, ROWS_MAX);
    let mut text = format!("{}\n\n{}\n", closing(report, lang), sides(report, lang));
    text += &table_within(&rows, report, lang, bytes_max);
    if !report.comparison.findings.is_empty() {
        text += &format!("\n{}", findings(report, lang));
    }
    let caveats = sentences::caveats(report, hidden, lang);
    text + &caveats.iter().map(|caveat| format!("\n> {caveat}\n")).collect::<String>()
}

/// The answer, and the verdicts counted.
pub(crate) fn closing(report: &ComparisonReport, lang: Lang) -> String {
    let answer = sentences::answer(report, lang, &markdown_code);
    format!("{answer} {}", sentences::closing(report, lang, &markdown_code))
}

fn findings(report: &ComparisonReport, lang: Lang) -> String {
    let findings = &report.comparison.findings;
    if findings.is_empty() {
        return format!("{}\n", lang.comparison_no_obstacle());
    }
    let mut text = String::new();
    for (index, finding) in findings.iter().enumerate() {
        let mark = if finding.refusal().is_some() { "❌" } else { "⚠️" };
        let line = format!("* {mark} {}\n", sentences::finding(finding, report, lang, &markdown_code));
        if index >= FINDINGS_MAX || text.len() + line.len() > PART_BYTES_MAX {
            let more = (findings.len() - index).to_string();
            return text + &format!("* {}\n", lang.more_rows(more));
        }
        text += &line;
    }
    text
}

fn sides(report: &ComparisonReport, lang: Lang) -> String {
    let mut table = Table::new(&[
        Column::Left(""),
        Column::Left(lang.run()),
        Column::Left(lang.name()),
        Column::Left(lang.target()),
        Column::Left(lang.started()),
        Column::Left(sentences::parts(report, lang)),
    ]);
    let comparison = &report.comparison;
    let sides = [
        ("A", lang.comparison_before(), &report.a, &comparison.steady_a),
        ("B", lang.comparison_after(), &report.b, &comparison.steady_b),
    ];
    for (letter, word, runs, steady) in sides {
        let row = |(run, steady): (&ComparedRun, &Steady)| {
            let known = |text: &str| if text.is_empty() { String::new() } else { markdown_code(text) };
            vec![
                format!("{letter} ({word})"),
                markdown_code(&run.id),
                known(&run.name),
                known(&run.target_version),
                api::rfc3339_s(run.started_unix_ns),
                sentences::steady(steady, run.seconds, lang),
            ]
        };
        runs.iter().zip(steady).map(row).for_each(|row| table.row(row));
    }
    table.render(lang, PART_BYTES_MAX)
}

/// Evidence of the servers of both sides; empty where no side has evidence.
fn evidence_part(report: &ComparisonReport, lang: Lang) -> String {
    let found = &report.evidence;
    if found.rows.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&[
        Column::Left(lang.comparison_evidence()),
        Column::Left(lang.comparison_figure()),
        Column::Right(lang.comparison_before()),
        Column::Right(lang.comparison_after()),
        Column::Right(lang.comparison_change()),
    ]);
    for row in &found.rows {
        table.row(vec![
            markdown_code(&row.subject),
            evidence::fact(row.fact, found.per, lang),
            evidence::reading(row.fact, row.a, lang),
            evidence::reading(row.fact, row.b, lang),
            evidence::change(row, report.letter_b, lang),
        ]);
    }
    let hidden = match found.left_out {
        0 => String::new(),
        count => format!("\n{}\n", lang.comparison_evidence_hidden(count)),
    };
    let table = table.render(lang, PART_BYTES_MAX);
    let (title, note) = (lang.comparison_evidence(), lang.comparison_evidence_note());
    format!("\n### {title} ({note})\n\n{table}{hidden}")
}

fn table(rows: &[&Row], report: &ComparisonReport, lang: Lang) -> String {
    table_within(rows, report, lang, PART_BYTES_MAX)
}

fn table_within(rows: &[&Row], report: &ComparisonReport, lang: Lang, bytes_max: usize) -> String {
    let mut table = Table::new(&[
        Column::Left(lang.comparison_series()),
        Column::Left(lang.comparison_figure()),
        Column::Right(lang.comparison_before()),
        Column::Right(lang.comparison_after()),
        Column::Right(lang.comparison_change()),
        Column::Right("q"),
        Column::Left(lang.comparison_verdict()),
    ]);
    for row in rows {
        let verdict = sentences::row_verdict(row, &report.options, lang);
        let mark = match row.verdict {
            Verdict::Improved => "✅ ",
            Verdict::Regressed => "❌ ",
            _ => "",
        };
        table.row(vec![
            sentences::series(&row.series, lang, &markdown_code),
            sentences::figure(row.measure, lang),
            sentences::value(row.measure, row.a),
            sentences::value(row.measure, row.b),
            sentences::change(row),
            sentences::q_value(row.q_value).replace('<', "&lt;"),
            if super::is_change(row) { format!("{mark}**{verdict}**") } else { verdict },
        ]);
    }
    table.render(lang, bytes_max)
}
