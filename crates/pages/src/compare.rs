//! `/compare`: changes between runs.

use analysis::compare::Options;
use api::page::{ComparePage, ComparisonText, EvidenceText};
use catalogue::Catalogue;
use report::comparison::{self, EvidenceWords, RowWords};
use runs::comparison::{between, share};
use server::{PageError, Question};

use super::not_found;
use super::scope::lang_of;
use super::{invalid, json};

/// Maximum number of runs per side, so that a request cannot make the server read every run.
const SIDE_RUNS_MAX: usize = 10;

pub(super) fn answer(catalogue: &Catalogue, question: &Question) -> Result<String, PageError> {
    let (a, b) = (side(question, "a")?, side(question, "b")?);
    let mut options = Options::default();
    if let Some(text) = question.get("margin") {
        let invalid = || invalid("margin", text, "write 5% or 0.05");
        options.margin = share(text).filter(|margin| (0.0..1.0).contains(margin)).ok_or_else(invalid)?;
    }
    let report = between(a, b, options, catalogue).map_err(not_found)?;
    let words = comparison::words(&report, lang_of(question));
    let text = |row: RowWords| ComparisonText {
        series: row.series,
        figure: row.figure,
        a: row.a,
        b: row.b,
        change: row.change,
        verdict: row.verdict,
    };
    let evidence = |row: EvidenceWords| EvidenceText {
        subject: row.subject,
        figure: row.fact,
        a: row.a,
        b: row.b,
        change: row.change,
    };
    json(&ComparePage {
        comparison: comparison::json::document(&report),
        texts: words.rows.into_iter().map(text).collect(),
        evidence: words.evidence.into_iter().map(evidence).collect(),
        sentence: words.answer,
        findings: words.findings,
    })
}

/// Returns the runs of a side: ids separated by commas. Paths are refused, because a client must not choose which files are read.
fn side<'a>(question: &'a Question, name: &str) -> Result<&'a str, PageError> {
    let text = question.get(name).unwrap_or_default();
    let is_fine = text.split(',').all(Question::names_run) && text.split(',').count() <= SIDE_RUNS_MAX;
    match is_fine {
        true => Ok(text),
        false => Err(PageError::Invalid(format!(
            "failed to read {name}={text:?}: write ids of runs, at most {SIDE_RUNS_MAX}, with commas between them"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use server::View;

    use super::*;

    #[test]
    fn sides_are_ids() {
        let check = |text: &str, expect: bool| {
            let question = Question::of_run(View::Compare, "", &[("a", text)]);
            assert_eq!(side(&question, "a").is_ok(), expect, "{text}");
        };
        check("ab12cd34", true);
        check("ab12cd34,@last", true);
        check("", false);
        check("/etc/passwd", false);
        check("ab12,../x.plimsoll", false);
        check(&["ab12"; 11].join(","), false);
    }
}
