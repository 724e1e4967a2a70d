//! The texts of several sides compared with the first, for callers with their own layout.

use analysis::compare::EvidenceRow;
use api::page::{ComparedSide, ComparedSides, SidesCell, SidesFinding, SidesRow};

use super::{ComparisonReport, Tally, evidence, json, many, sentences};
use crate::Lang;

/// Everything that a comparison of several sides with the first says in words of a language. Names are as the script wrote them:
/// who shows them has to escape them.
pub fn sides(reports: &[ComparisonReport], lang: Lang) -> ComparedSides {
    let shown = |text: &str| text.to_owned();
    let (lines, hidden) = many::lines(reports);
    let side = |report: &ComparisonReport| {
        let document = json::document(report);
        ComparedSide {
            letter: report.letter_b.to_string(),
            runs: document.b,
            verdict: Tally::count(&report.comparison.rows).verdict(),
            sentence: sentences::answer(report, lang, &shown),
        }
    };
    let finding =
        |(sides, refuses, sentence): (String, bool, String)| SidesFinding { sides, refuses, sentence };
    let mut caveats = many::caveats(reports, &lines, hidden, lang);
    caveats.extend(reports.first().map(|report| sentences::legend(report, lang)));
    ComparedSides {
        verdict: many::tally(reports).verdict(),
        sides: reports.iter().map(side).collect(),
        rows: lines.iter().map(|line| row(line, lang)).collect(),
        evidence: evidence_rows(reports, lang),
        findings: many::distinct_findings(reports, lang, &shown).into_iter().map(finding).collect(),
        caveats,
    }
}

fn row(line: &many::Line, lang: Lang) -> SidesRow {
    let cell = |cell: &many::Cell| SidesCell {
        value: cell.value.clone(),
        change: cell.change.clone(),
        verdict: Some(json::verdict_word(cell.verdict)),
        verdict_text: sentences::verdict(cell.verdict, lang),
    };
    SidesRow {
        series: sentences::series(&line.series, lang, &|text| text.to_owned()),
        figure: sentences::figure(line.measure, lang),
        baseline: line.baseline.clone(),
        cells: line.cells.iter().map(|one| one.as_ref().map(cell)).collect(),
    }
}

fn evidence_rows(reports: &[ComparisonReport], lang: Lang) -> Vec<SidesRow> {
    let per = reports.first().map(|report| report.evidence.per).unwrap_or_default();
    let row = |((subject, fact), rows): many::EvidenceLine<'_>| {
        let cell = |row: &Option<&EvidenceRow>| {
            Some(SidesCell {
                value: evidence::reading(fact, row.and_then(|row| row.b), lang),
                change: many::evidence_change(*row),
                verdict: None,
                verdict_text: String::new(),
            })
        };
        SidesRow {
            series: subject.to_owned(),
            figure: evidence::fact(fact, per, lang),
            baseline: many::evidence_baseline(&rows, fact, lang),
            cells: rows.iter().map(cell).collect(),
        }
    };
    many::evidence_lines(reports).into_iter().map(row).collect()
}
