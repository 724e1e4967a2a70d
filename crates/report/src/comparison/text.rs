//! A comparison on a terminal.

use analysis::compare::{EvidenceRow, LevelRow, Row, Verdict};
use analysis::steady::Steady;

use super::{ComparedRun, ComparisonReport, evidence, sentences, shown};
use crate::style::{BOLD, FAINT, GREEN, RED, YELLOW, width};
use crate::{Lang, Style, escape};

/// Rows that are shown at most; beyond, only changes are.
const ROWS_MAX: usize = 400;

/// Findings that are shown at most, the most serious ones.
const FINDINGS_MAX: usize = 40;

/// The comparison as text, ending in a line break.
pub fn render(report: &ComparisonReport, lang: Lang, style: Style) -> String {
    let name = |text: &str| escape::short(text);
    let mut text = format!("{}\n\n", style.paint(BOLD, &sentences::answer(report, lang, &name)));
    let (rows, hidden) = shown(&report.comparison, ROWS_MAX);
    text += &format!("{}\n", table(&rows, report, lang, style));
    text += &evidence_table(report, lang, style);
    text += &format!("{}\n", style.paint(BOLD, lang.comparison_comparable()));
    let findings = &report.comparison.findings;
    if findings.is_empty() {
        text += &format!("  {}\n", lang.comparison_no_obstacle());
    }
    for finding in findings.iter().take(FINDINGS_MAX) {
        let mark =
            if finding.refusal().is_some() { style.paint(RED, "✗") } else { style.paint(YELLOW, "•") };
        text += &format!("  {mark} {}\n", sentences::finding(finding, report, lang, &name));
    }
    if findings.len() > FINDINGS_MAX {
        let more = (findings.len() - FINDINGS_MAX).to_string();
        text += &format!("  {}\n", lang.more_rows(more));
    }
    text += &format!("\n{}\n", style.paint(BOLD, sentences::parts(report, lang)));
    let steady = &report.comparison;
    text += &side("A", lang.comparison_before(), &report.a, &steady.steady_a, lang);
    text += &side("B", lang.comparison_after(), &report.b, &steady.steady_b, lang);
    text += &format!("\n{}\n", sentences::closing(report, lang, &name));
    for caveat in sentences::caveats(report, hidden, lang) {
        text += &format!("{caveat}\n");
    }
    style.fit(text)
}

/// Server CPU on both sides, as text that ends in a line break.
pub fn levels(rows: &[LevelRow], lang: Lang, style: Style) -> String {
    let mut text = format!("{}\n", style.paint(BOLD, lang.comparison_levels()));
    if rows.is_empty() {
        return style.fit(text + &format!("  {}\n", lang.comparison_levels_none()));
    }
    let head = [
        lang.comparison_series(),
        lang.comparison_before(),
        lang.comparison_after(),
        lang.comparison_change(),
        "q",
        lang.comparison_verdict(),
    ];
    let value = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{value:.3}"));
    let row = |row: &LevelRow| {
        let change = row.ratio.map(|it| sentences::ratio(it.ratio, it.interval.lower, it.interval.upper));
        [
            escape::short(&row.name),
            value(row.a),
            value(row.b),
            change.unwrap_or_else(|| "–".to_owned()),
            sentences::q_value(row.q_value),
            sentences::verdict(row.verdict, lang),
        ]
    };
    let cells: Vec<[String; 6]> =
        std::iter::once(head.map(str::to_owned)).chain(rows.iter().map(row)).collect();
    let colours: Vec<&str> = rows.iter().map(|row| colour(row.verdict)).collect();
    text += &lines(&cells, &colours, style).concat();
    style.fit(text)
}

/// The runs of a side with their steady parts.
fn side(letter: &str, word: &str, runs: &[ComparedRun], steady: &[Steady], lang: Lang) -> String {
    let line = |(run, steady): (&ComparedRun, &Steady)| {
        let known = [&run.id, &run.name, &run.target_version];
        let known = known.iter().filter(|text| !text.is_empty()).map(|text| escape::short(text));
        let known: Vec<String> = known.collect();
        let steady = sentences::steady(steady, run.seconds, lang);
        format!("  {letter} ({word})  {}  {steady}\n", known.join("  "))
    };
    runs.iter().zip(steady).map(line).collect()
}

/// The rows, below a line with the name of each series.
fn table(rows: &[&Row], report: &ComparisonReport, lang: Lang, style: Style) -> String {
    let head = [
        lang.comparison_figure(),
        lang.comparison_before(),
        lang.comparison_after(),
        lang.comparison_change(),
        "q",
        lang.comparison_verdict(),
    ];
    let cells: Vec<[String; 6]> = std::iter::once(head.map(str::to_owned))
        .chain(rows.iter().map(|row| {
            [
                sentences::figure(row.measure, lang),
                sentences::value(row.measure, row.a),
                sentences::value(row.measure, row.b),
                sentences::change(row),
                sentences::q_value(row.q_value),
                sentences::row_verdict(row, &report.options, lang),
            ]
        }))
        .collect();
    let colours: Vec<&str> = rows.iter().map(|row| colour(row.verdict)).collect();
    let mut lines = lines(&cells, &colours, style).into_iter();
    let mut text = lines.next().unwrap_or_default();
    let mut series = None;
    for (row, line) in rows.iter().zip(lines) {
        if series != Some(&row.series) {
            series = Some(&row.series);
            let name = sentences::series(&row.series, lang, &|text| escape::short(text));
            text += &format!("{}\n", style.paint(BOLD, &name));
        }
        text += &line;
    }
    text
}

/// Evidence of the servers of both sides, with a blank line after it; empty where no side has evidence.
fn evidence_table(report: &ComparisonReport, lang: Lang, style: Style) -> String {
    let found = &report.evidence;
    if found.rows.is_empty() {
        return String::new();
    }
    let head = [
        lang.comparison_figure(),
        lang.comparison_before(),
        lang.comparison_after(),
        lang.comparison_change(),
    ];
    let row = |row: &EvidenceRow| {
        [
            evidence::fact(row.fact, found.per, lang),
            evidence::reading(row.fact, row.a, lang),
            evidence::reading(row.fact, row.b, lang),
            evidence::change(row, report.letter_b, lang),
        ]
    };
    let cells: Vec<[String; 4]> =
        std::iter::once(head.map(str::to_owned)).chain(found.rows.iter().map(row)).collect();
    let mut lines = lines(&cells, &vec![FAINT; found.rows.len()], style).into_iter();
    let title = style.paint(BOLD, lang.comparison_evidence());
    let mut text = format!("{title} ({})\n", lang.comparison_evidence_note());
    text.extend(lines.next());
    for rows in evidence::by_subject(&found.rows) {
        text += &format!("{}\n", style.paint(BOLD, &escape::short(&rows[0].subject)));
        text.extend(lines.by_ref().take(rows.len()));
    }
    if found.left_out > 0 {
        text += &format!("{}\n", lang.comparison_evidence_hidden(found.left_out));
    }
    text + "\n"
}

/// A line for each row of cells, the first of which is the head; the others have colours.
fn lines<const N: usize>(cells: &[[String; N]], colours: &[&str], style: Style) -> Vec<String> {
    let widths = |column: usize| cells.iter().map(|row| width(&row[column])).max().unwrap_or(0);
    let widths: [usize; N] = std::array::from_fn(widths);
    let line = |(row, code): (&[String; N], &&str)| {
        let mut text = String::from("  ");
        for (column, (cell, width_max)) in row.iter().zip(widths).take(N - 1).enumerate() {
            let blanks = " ".repeat(width_max - width(cell));
            text += &if column == 0 { format!("{cell}{blanks}  ") } else { format!("{blanks}{cell}  ") };
        }
        format!("{text}{}\n", style.paint(code, &row[N - 1]))
    };
    cells.iter().zip(std::iter::once(&FAINT).chain(colours)).map(line).collect()
}

pub(super) fn colour(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Regressed => RED,
        Verdict::Improved => GREEN,
        Verdict::Inconclusive(_) => YELLOW,
        Verdict::Equivalent | Verdict::NotAvailable(_) => FAINT,
    }
}
