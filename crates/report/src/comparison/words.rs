//! The texts of a comparison, piece by piece, for callers with their own layout.

use super::{ComparisonReport, evidence, sentences};
use crate::Lang;

/// Everything that a comparison says in words of a language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    /// The answer in a sentence.
    pub answer: String,
    /// Findings on comparability.
    pub findings: Vec<String>,
    /// The rows, all of them.
    pub rows: Vec<RowWords>,
    /// Evidence of the servers of both sides.
    pub evidence: Vec<EvidenceWords>,
}

/// A figure of server evidence in words. The name of the service is as the evidence has it: who shows it has to escape it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvidenceWords {
    /// The service, database or pool.
    pub subject: String,
    /// The figure.
    pub fact: String,
    /// The first side's value.
    pub a: String,
    /// The second side's.
    pub b: String,
    /// The ratio, or the only side that has the figure.
    pub change: String,
}

/// One row in words. Names are as the script wrote them: who shows them has to escape them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowWords {
    /// The series.
    pub series: String,
    /// The figure.
    pub figure: String,
    /// The first side's value.
    pub a: String,
    /// The second side's.
    pub b: String,
    /// The change and its interval.
    pub change: String,
    /// The verdict.
    pub verdict: String,
}

/// A comparison in words.
pub fn words(report: &ComparisonReport, lang: Lang) -> Words {
    let shown = |text: &str| text.to_owned();
    let row = |row: &analysis::compare::Row| RowWords {
        series: sentences::series(&row.series, lang, &shown),
        figure: sentences::figure(row.measure, lang),
        a: sentences::value(row.measure, row.a),
        b: sentences::value(row.measure, row.b),
        change: sentences::change(row),
        verdict: sentences::row_verdict(row, &report.options, lang),
    };
    let shown_evidence = |row: &analysis::compare::EvidenceRow| EvidenceWords {
        subject: row.subject.clone(),
        fact: evidence::fact(row.fact, report.evidence.per, lang),
        a: evidence::reading(row.fact, row.a, lang),
        b: evidence::reading(row.fact, row.b, lang),
        change: evidence::change(row, report.letter_b, lang),
    };
    let findings = report.comparison.findings.iter();
    Words {
        answer: sentences::answer(report, lang, &shown),
        findings: findings.map(|finding| sentences::finding(finding, report, lang, &shown)).collect(),
        rows: report.comparison.rows.iter().map(row).collect(),
        evidence: report.evidence.rows.iter().map(shown_evidence).collect(),
    }
}
