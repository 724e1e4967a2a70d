//! Several runs beside each other, each compared with the first: one column per run.

use std::collections::{BTreeMap, HashMap, HashSet};

use analysis::compare::{EvidenceRow, Fact, Measure, Row, Verdict};
use api::comparison::{BaselineComparison, SCHEMA_VERSION};

use super::{ComparedRun, ComparisonReport, Tally, evidence, sentences};
use crate::escape::{self, markdown_code};
use crate::markdown::{BYTES_MAX, Column, Table};
use crate::style::{BOLD, FAINT, RED, YELLOW, width};
use crate::{Lang, Style};

/// Rows that are shown at most; beyond, only changes are.
const ROWS_MAX: usize = 400;

/// Runs beside the baseline in one table of a terminal. More take more than a terminal's width; they follow in further tables.
const RUNS_PER_TABLE: usize = 4;

/// Characters of an id in the head of a column: ids of own runs have 8, and imported ones may have any name.
const ID_CHARS_MAX: usize = 16;

/// Findings that are shown at most, the most serious ones.
const FINDINGS_MAX: usize = 40;

/// Bytes of a table or a list in Markdown at most, so that the whole fits.
const PART_BYTES_MAX: usize = BYTES_MAX / 5;

/// Sides compared with the same first side, as text that ends in a line break; empty without any. One has the shape of a pair.
pub fn text(reports: &[ComparisonReport], lang: Lang, style: Style) -> String {
    let Some(first) = reports.first() else { return String::new() };
    if reports.len() == 1 {
        return super::text(first, lang, style);
    }
    let shown = |text: &str| escape::short(text);
    let mut text = String::new();
    for report in reports {
        text += &format!("{}\n", style.paint(BOLD, &answer(report, lang, &shown)));
    }
    let (lines, hidden) = lines(reports);
    for (table, columns) in columns(reports).enumerate() {
        text += &format!("\n{}", rows_table(&lines, reports, columns.clone(), lang, style));
        if table == 0 {
            text += &format!("{}\n", lang.comparison_marks());
        }
    }
    text += &evidence_tables(reports, lang, style);
    text += &format!("\n{}\n", style.paint(BOLD, lang.comparison_comparable()));
    text += &findings(reports, lang, style);
    text += &format!("\n{}\n", style.paint(BOLD, lang.comparison_seconds()));
    for line in parts(reports, lang, &shown) {
        text += &format!("  {line}\n");
    }
    text += "\n";
    for report in reports {
        text += &format!("{}\n", counts(report, lang, &shown));
    }
    for caveat in caveats(reports, &lines, hidden, lang) {
        text += &format!("{caveat}\n");
    }
    text += &format!("{}\n", sentences::legend(first, lang));
    style.fit(text)
}

/// Sides compared with the same first side, as Markdown of at most [`BYTES_MAX`] bytes. One has the shape of a pair.
pub fn markdown(reports: &[ComparisonReport], lang: Lang) -> String {
    let Some(first) = reports.first() else { return String::new() };
    if reports.len() == 1 {
        return super::markdown(first, lang);
    }
    let mark = super::markdown::mark(tally(reports));
    let mut text = format!("## {mark} {}\n\n", lang.comparison_figures());
    for report in reports {
        text += &format!("* {}\n", answer(report, lang, &markdown_code));
    }
    let (lines, hidden) = lines(reports);
    text += &format!("\n{}\n{}\n", markdown_rows(&lines, reports, lang), lang.comparison_marks());
    text += &markdown_evidence(reports, lang);
    text += &format!("\n### {}\n\n", lang.comparison_comparable());
    let found = distinct_findings(reports, lang, &markdown_code);
    for (letters, refuses, sentence) in found.iter().take(FINDINGS_MAX) {
        let mark = if *refuses { "❌" } else { "⚠️" };
        text += &format!("* {mark} {letters}{sentence}\n");
    }
    if found.is_empty() {
        text += &format!("{}\n", lang.comparison_no_obstacle());
    }
    text += &format!("\n### {}\n\n", lang.comparison_seconds());
    for line in parts(reports, lang, &markdown_code) {
        text += &format!("* {line}\n");
    }
    text += "\n";
    for report in reports {
        text += &format!("* {}\n", counts(report, lang, &markdown_code));
    }
    for caveat in caveats(reports, &lines, hidden, lang) {
        text += &format!("\n> {caveat}\n");
    }
    text + &format!("\n> {}\n", sentences::legend(first, lang))
}

/// Sides compared with the same first side, as JSON text in the shape that `docs/format/comparisons.schema.json` describes;
/// one as that of a pair.
pub fn json(reports: &[ComparisonReport]) -> String {
    if let [report] = reports {
        return super::json::render(report);
    }
    let document = BaselineComparison {
        schema_version: SCHEMA_VERSION,
        verdict: tally(reports).verdict(),
        comparisons: reports.iter().map(super::json::document).collect(),
    };
    escape::json(&serde_json::to_string_pretty(&document).unwrap_or_default()) + "\n"
}

/// All rows of all comparisons.
pub(super) fn tally(reports: &[ComparisonReport]) -> Tally {
    Tally::count(reports.iter().flat_map(|report| &report.comparison.rows))
}

fn answer(report: &ComparisonReport, lang: Lang, shown: sentences::Shown<'_>) -> String {
    let answer = sentences::answer(report, lang, shown);
    lang.comparison_run_answer(report.letter_b, names(&report.b, shown), answer)
}

/// The runs of a side: their ids, and the name of a single one.
fn names(runs: &[ComparedRun], shown: sentences::Shown<'_>) -> String {
    let name = |run: &ComparedRun| match (run.name.is_empty(), runs.len()) {
        (false, 1) => format!("{} {}", shown(&run.id), shown(&run.name)),
        _ => shown(&run.id),
    };
    runs.iter().map(name).collect::<Vec<_>>().join(", ")
}

fn counts(report: &ComparisonReport, lang: Lang, shown: sentences::Shown<'_>) -> String {
    lang.comparison_counts(report.letter_b, sentences::closing(report, lang, shown))
}

/// A figure of all sides.
pub(super) struct Line {
    pub(super) series: String,
    pub(super) measure: Measure,
    /// The baseline's value as shown.
    pub(super) baseline: String,
    /// One per side; `None` where its endpoints do not have the figure.
    pub(super) cells: Vec<Option<Cell>>,
}

/// A side's value, and its change from the baseline.
pub(super) struct Cell {
    pub(super) value: String,
    /// The baseline's value in the seconds that were compared with this side's.
    baseline: String,
    pub(super) change: String,
    pub(super) verdict: Verdict,
}

/// The rows that are important in at least one comparison, and how many are hidden.
pub(super) fn lines(reports: &[ComparisonReport]) -> (Vec<Line>, usize) {
    let blocks: Vec<HashMap<&str, &[Row]>> = reports.iter().map(blocks).collect();
    let mut important: HashSet<(&str, usize)> = HashSet::new();
    for (report, blocks) in reports.iter().zip(&blocks) {
        let rows = &report.comparison.rows;
        for place in report.comparison.important_rows() {
            let series = rows[place].series.as_str();
            let in_block = blocks[series].iter().position(|row| row.measure == rows[place].measure);
            important.extend(in_block.map(|at| (series, at)));
        }
    }
    let (mut lines, mut count) = (Vec::new(), 0);
    for series in series_in_order(reports) {
        let of_sides: Vec<&[Row]> =
            blocks.iter().map(|blocks| blocks.get(series).copied().unwrap_or_default()).collect();
        let rows = of_sides.iter().map(|rows| rows.len()).max().unwrap_or(0);
        count += rows;
        for at in (0..rows).filter(|at| important.contains(&(series, *at))) {
            let rows: Vec<Option<&Row>> = of_sides.iter().map(|rows| rows.get(at)).collect();
            lines.extend(line(&rows));
        }
    }
    lines.truncate(ROWS_MAX);
    let hidden = count - lines.len();
    (lines, hidden)
}

fn line(rows: &[Option<&Row>]) -> Option<Line> {
    let first = rows.iter().flatten().find(|row| row.a.is_some()).or(rows.iter().flatten().next())?;
    let cell = |row: &Row| Cell {
        value: sentences::value(row.measure, row.b),
        baseline: sentences::value(row.measure, row.a),
        change: sentences::brief(row),
        verdict: row.verdict,
    };
    Some(Line {
        series: first.series.clone(),
        measure: first.measure,
        baseline: sentences::value(first.measure, first.a),
        cells: rows.iter().map(|row| row.map(cell)).collect(),
    })
}

/// The rows of each series, which follow each other.
fn blocks(report: &ComparisonReport) -> HashMap<&str, &[Row]> {
    let of_series = report.comparison.rows.chunk_by(|one, next| one.series == next.series);
    of_series.map(|rows| (rows[0].series.as_str(), rows)).collect()
}

/// The series of all comparisons. Each has those of the baseline in its order, less those that its side lacks.
fn series_in_order(reports: &[ComparisonReport]) -> Vec<&str> {
    let mut order: Vec<&str> = Vec::new();
    let mut known: HashSet<&str> = HashSet::new();
    for report in reports {
        let mut after = 0;
        for rows in report.comparison.rows.chunk_by(|one, next| one.series == next.series) {
            let series = rows[0].series.as_str();
            if known.insert(series) {
                order.insert(after, series);
                after += 1;
            } else {
                after = order.iter().position(|known| *known == series).map_or(after, |at| at + 1);
            }
        }
    }
    order
}

/// The sides of each table, by their places.
fn columns(reports: &[ComparisonReport]) -> impl Iterator<Item = std::ops::Range<usize>> {
    let count = reports.len();
    (0..count).step_by(RUNS_PER_TABLE).map(move |start| start..(start + RUNS_PER_TABLE).min(count))
}

/// A mark of one column for a verdict; a legend explains it.
fn mark(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Improved => "✓",
        Verdict::Regressed => "✗",
        Verdict::Equivalent => "=",
        Verdict::Inconclusive(_) => "~",
        // The change is a dash already.
        Verdict::NotAvailable(_) => " ",
    }
}

/// A line of a table: a name, the baseline's value, and each side's value with its change and mark.
struct TextLine {
    /// The title above it, if it begins a group.
    title: Option<String>,
    name: String,
    baseline: String,
    cells: Vec<[String; 3]>,
    colours: Vec<&'static str>,
}

fn rows_table(
    lines: &[Line],
    reports: &[ComparisonReport],
    columns: std::ops::Range<usize>,
    lang: Lang,
    style: Style,
) -> String {
    let mut last = None;
    let line = |line: &Line| {
        let is_new = last.as_ref() != Some(&line.series);
        last = Some(line.series.clone());
        let cell = |cell: &Option<Cell>| match cell {
            Some(cell) => [cell.value.clone(), cell.change.clone(), mark(cell.verdict).to_owned()],
            None => ["–".to_owned(), "–".to_owned(), " ".to_owned()],
        };
        let colour =
            |cell: &Option<Cell>| cell.as_ref().map_or(FAINT, |cell| super::text::colour(cell.verdict));
        let cells = &line.cells[columns.clone()];
        TextLine {
            title: is_new.then(|| sentences::series(&line.series, lang, &|text| escape::short(text))),
            name: sentences::figure(line.measure, lang),
            baseline: line.baseline.clone(),
            cells: cells.iter().map(cell).collect(),
            colours: cells.iter().map(colour).collect(),
        }
    };
    let lines: Vec<TextLine> = lines.iter().map(line).collect();
    table(lang.comparison_figure(), &lines, &reports[columns.clone()], lang, style)
}

/// A table with a column for each side, in which the parts of cells stand below each other.
fn table(head: &str, lines: &[TextLine], reports: &[ComparisonReport], lang: Lang, style: Style) -> String {
    let widest = |texts: &mut dyn Iterator<Item = &str>| texts.map(width).max().unwrap_or(0);
    let baseline = format!("A {}", lang.comparison_baseline());
    let name_width = widest(&mut lines.iter().map(|line| &*line.name).chain([head]));
    let base_width = widest(&mut lines.iter().map(|line| &*line.baseline).chain([&*baseline]));
    let part_width =
        |side: usize, part: usize| widest(&mut lines.iter().map(|line| &*line.cells[side][part]));
    let heads: Vec<String> = reports.iter().map(column_head).collect();
    let widths: Vec<[usize; 3]> = heads
        .iter()
        .enumerate()
        .map(|(side, head)| {
            let [value, change, mark] = [part_width(side, 0), part_width(side, 1), part_width(side, 2)];
            // The head is as wide as the cell at least.
            let lacking = width(head).saturating_sub(value + change + mark + 2);
            [value + lacking, change, mark]
        })
        .collect();
    let pad = |text: &str, wide: usize| " ".repeat(wide.saturating_sub(width(text)));
    let mut text = format!("  {head}{}  {}{baseline}", pad(head, name_width), pad(&baseline, base_width));
    for (head, widths) in heads.iter().zip(&widths) {
        let wide = widths.iter().sum::<usize>() + 2;
        text += &format!("   {}{head}", pad(head, wide));
    }
    text = format!("{}\n", style.paint(FAINT, text.trim_end()));
    for line in lines {
        if let Some(title) = &line.title {
            text += &format!("{}\n", style.paint(BOLD, title));
        }
        let (name, base) = (&line.name, &line.baseline);
        text += &format!("  {name}{}  {}{base}", pad(name, name_width), pad(base, base_width));
        for ((cell, widths), colour) in line.cells.iter().zip(&widths).zip(&line.colours) {
            let [value, change, mark] = cell;
            let value = format!("{}{value}", pad(value, widths[0]));
            let change = format!("{}{change} {mark}{}", pad(change, widths[1]), pad(mark, widths[2]));
            text += &format!("   {value} {}", style.paint(colour, &change));
        }
        text.truncate(text.trim_end().len());
        text += "\n";
    }
    text
}

/// `B 48a238ae`
fn column_head(report: &ComparisonReport) -> String {
    let id: String = report.b.first().map_or("", |run| &run.id).chars().take(ID_CHARS_MAX).collect();
    let id = escape::short(&id);
    match report.b.len() {
        0 | 1 => format!("{} {id}", report.letter_b),
        count => format!("{} {id} +{}", report.letter_b, count - 1),
    }
}

/// A figure of server evidence on all sides.
pub(super) type EvidenceLine<'a> = ((&'a str, Fact), Vec<Option<&'a EvidenceRow>>);

pub(super) fn evidence_lines(reports: &[ComparisonReport]) -> Vec<EvidenceLine<'_>> {
    let mut lines: BTreeMap<(&str, Fact), Vec<Option<&EvidenceRow>>> = BTreeMap::new();
    for (side, report) in reports.iter().enumerate() {
        for row in &report.evidence.rows {
            let line = lines.entry((&row.subject, row.fact)).or_insert_with(|| vec![None; reports.len()]);
            line[side] = Some(row);
        }
    }
    lines.into_iter().collect()
}

pub(super) fn evidence_baseline(rows: &[Option<&EvidenceRow>], fact: Fact, lang: Lang) -> String {
    evidence::reading(fact, rows.iter().flatten().find_map(|row| row.a), lang)
}

/// `×0.561`; of a figure that one side alone has there is no change.
pub(super) fn evidence_change(row: Option<&EvidenceRow>) -> String {
    row.and_then(EvidenceRow::ratio).map_or_else(|| "–".to_owned(), |ratio| format!("×{ratio:.3}"))
}

fn evidence_tables(reports: &[ComparisonReport], lang: Lang, style: Style) -> String {
    let all = evidence_lines(reports);
    if all.is_empty() {
        return String::new();
    }
    let per = reports.first().map(|report| report.evidence.per).unwrap_or_default();
    let title = style.paint(BOLD, lang.comparison_evidence());
    let mut text = format!("\n{title} ({})\n", lang.comparison_evidence_note());
    let mut tables = Vec::new();
    for columns in columns(reports) {
        let is_shown = |rows: &[Option<&EvidenceRow>]| {
            let of_side = |row: &Option<&EvidenceRow>| row.is_some_and(|row| row.b.is_some());
            rows[columns.clone()].iter().any(of_side) || rows.iter().flatten().any(|row| row.a.is_some())
        };
        let mut last = String::new();
        let line = |((subject, fact), rows): &EvidenceLine<'_>| {
            let is_new = last != *subject;
            (*subject).clone_into(&mut last);
            let cell = |row: &Option<&EvidenceRow>| {
                let value = evidence::reading(*fact, row.and_then(|row| row.b), lang);
                [value, evidence_change(*row), String::new()]
            };
            TextLine {
                title: is_new.then(|| escape::short(subject)),
                name: evidence::fact(*fact, per, lang),
                baseline: evidence_baseline(rows, *fact, lang),
                cells: rows[columns.clone()].iter().map(cell).collect(),
                colours: vec![FAINT; columns.len()],
            }
        };
        let lines: Vec<TextLine> = all.iter().filter(|(_, rows)| is_shown(rows)).map(line).collect();
        if !lines.is_empty() {
            tables.push(table(lang.comparison_figure(), &lines, &reports[columns.clone()], lang, style));
        }
    }
    text += &tables.join("\n");
    text + &evidence_hidden(reports, lang)
}

fn evidence_hidden(reports: &[ComparisonReport], lang: Lang) -> String {
    match reports.iter().map(|report| report.evidence.left_out).max() {
        None | Some(0) => String::new(),
        Some(count) => format!("{}\n", lang.comparison_evidence_hidden(count)),
    }
}

/// Findings with the letters of the sides that have them, and whether they refuse verdicts. Those of all sides have no letters.
pub(super) fn distinct_findings(
    reports: &[ComparisonReport],
    lang: Lang,
    shown: sentences::Shown<'_>,
) -> Vec<(String, bool, String)> {
    let mut found: Vec<(Vec<char>, bool, String)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for report in reports {
        for finding in &report.comparison.findings {
            let sentence = sentences::finding(finding, report, lang, shown);
            let refuses = finding.refusal().is_some();
            let place = *places.entry(sentence.clone()).or_insert(found.len());
            if place == found.len() {
                found.push((Vec::new(), refuses, sentence));
            }
            if let Some((letters, ..)) = found.get_mut(place) {
                letters.push(report.letter_b);
            }
        }
    }
    // The most serious first, as each comparison has them.
    found.sort_by_key(|(_, refuses, _)| !refuses);
    let letters = |letters: &[char], sentence: &str| {
        let names_side = matches!(letters, [letter] if sentence.contains(&format!("({letter})")));
        if names_side || letters.len() == reports.len() {
            return String::new();
        }
        let all: Vec<String> = letters.iter().map(char::to_string).collect();
        format!("{}: ", all.join(", "))
    };
    found.into_iter().map(|(of, refuses, sentence)| (letters(&of, &sentence), refuses, sentence)).collect()
}

fn findings(reports: &[ComparisonReport], lang: Lang, style: Style) -> String {
    let found = distinct_findings(reports, lang, &|text| escape::short(text));
    if found.is_empty() {
        return format!("  {}\n", lang.comparison_no_obstacle());
    }
    let mut text = String::new();
    for (letters, refuses, sentence) in found.iter().take(FINDINGS_MAX) {
        let mark = if *refuses { style.paint(RED, "✗") } else { style.paint(YELLOW, "•") };
        text += &format!("  {mark} {letters}{sentence}\n");
    }
    if found.len() > FINDINGS_MAX {
        text += &format!("  {}\n", lang.more_rows((found.len() - FINDINGS_MAX).to_string()));
    }
    text
}

/// The seconds of each run that were compared.
fn parts(reports: &[ComparisonReport], lang: Lang, shown: sentences::Shown<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    let of_side = |letter: char, runs: &[ComparedRun], steady: &[analysis::steady::Steady]| -> Vec<String> {
        let line = |(run, steady): (&ComparedRun, _)| {
            let steady = sentences::steady(steady, run.seconds, lang);
            format!("{letter}  {}  {steady}", names(std::slice::from_ref(run), shown))
        };
        runs.iter().zip(steady).map(line).collect()
    };
    let of_baseline = reports.iter().flat_map(|report| of_side('A', &report.a, &report.comparison.steady_a));
    for line in of_baseline {
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    for report in reports {
        let suffix = match report.comparison.paired_s {
            Some(_) => format!(" ({})", lang.comparison_paired()),
            None => String::new(),
        };
        let of_report = of_side(report.letter_b, &report.b, &report.comparison.steady_b);
        lines.extend(of_report.into_iter().map(|line| line + &suffix));
    }
    lines
}

/// Sentences about all rows: how they were adjusted, what intervals leave out, and what is not shown.
pub(super) fn caveats(
    reports: &[ComparisonReport],
    lines: &[Line],
    hidden: usize,
    lang: Lang,
) -> Vec<String> {
    let mut caveats = vec![lang.comparison_many_adjusted(reports.len())];
    let differs = |side: usize| {
        let cells = lines.iter().filter_map(|line| Some((line, line.cells[side].as_ref()?)));
        cells.into_iter().any(|(line, cell)| cell.baseline != line.baseline)
    };
    let others: Vec<String> = reports
        .iter()
        .enumerate()
        .filter(|(side, _)| differs(*side))
        .map(|(_, report)| report.letter_b.to_string())
        .collect();
    if !others.is_empty() {
        caveats.push(lang.comparison_baseline_parts(others.join(", ")));
    }
    if reports.iter().any(|report| report.comparison.within_run_only) {
        caveats.push(lang.comparison_within_run(analysis::compare::RUNS_FOR_BETWEEN.to_string()));
    }
    if hidden > 0 {
        caveats.push(lang.comparison_rows_hidden(hidden));
    }
    let left_out = reports.first().map_or(0, |report| report.endpoints_left_out);
    if left_out > 0 {
        caveats.push(lang.comparison_endpoints_hidden(left_out));
    }
    caveats
}

/// A table with a column for the baseline and one for each side.
fn side_table(first: &'static str, reports: &[ComparisonReport], lang: Lang) -> Table {
    let mut table = Table::new(&[Column::Left(first), Column::Left(lang.comparison_figure())]);
    table.number_column(format!("A {}", lang.comparison_baseline()));
    for report in reports {
        table.number_column(markdown_code(&column_head(report)));
    }
    table
}

fn markdown_rows(lines: &[Line], reports: &[ComparisonReport], lang: Lang) -> String {
    let mut table = side_table(lang.comparison_series(), reports, lang);
    for line in lines {
        let cell = |cell: &Option<Cell>| match cell {
            Some(cell) => {
                format!("{} {} {}", cell.value, cell.change, mark(cell.verdict)).trim_end().to_owned()
            }
            None => "–".to_owned(),
        };
        let mut row = vec![
            sentences::series(&line.series, lang, &markdown_code),
            sentences::figure(line.measure, lang),
            line.baseline.clone(),
        ];
        row.extend(line.cells.iter().map(cell));
        table.row(row);
    }
    table.render(lang, PART_BYTES_MAX)
}

fn markdown_evidence(reports: &[ComparisonReport], lang: Lang) -> String {
    let all = evidence_lines(reports);
    if all.is_empty() {
        return String::new();
    }
    let per = reports.first().map(|report| report.evidence.per).unwrap_or_default();
    let mut table = side_table(lang.comparison_evidence(), reports, lang);
    for ((subject, fact), rows) in &all {
        let cell = |row: &Option<&EvidenceRow>| {
            let value = evidence::reading(*fact, row.and_then(|row| row.b), lang);
            format!("{value} {}", evidence_change(*row))
        };
        let mut row = vec![
            markdown_code(subject),
            evidence::fact(*fact, per, lang),
            evidence_baseline(rows, *fact, lang),
        ];
        row.extend(rows.iter().map(cell));
        table.row(row);
    }
    let (title, note) = (lang.comparison_evidence(), lang.comparison_evidence_note());
    let table = table.render(lang, PART_BYTES_MAX);
    format!("\n### {title} ({note})\n\n{table}{}", evidence_hidden(reports, lang))
}
