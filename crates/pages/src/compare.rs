//! `/compare`: changes between two sides of runs, or of several sides against the first.

use analysis::compare::Options;
use api::page::{ComparePage, ComparisonText, EvidenceText};
use catalogue::Catalogue;
use report::comparison::{self, EvidenceWords, RowWords};
use runs::Failure;
use runs::comparison::{SIDES_MAX, share, with_baseline};
use server::{PageError, Question};

use super::not_found;
use super::scope::lang_of;
use super::{invalid, json};

/// The parameters of the sides, the baseline first.
const SIDES: [&str; SIDES_MAX] = ["a", "b", "c", "d", "e", "f", "g", "h"];

/// Maximum number of runs per side, so that a request cannot make the server read every run.
const SIDE_RUNS_MAX: usize = 10;

pub(super) fn answer(catalogue: &Catalogue, question: &Question) -> Result<String, PageError> {
    let sides = sides(question)?;
    let mut options = Options::default();
    if let Some(text) = question.get("margin") {
        let invalid = || invalid("margin", text, "write 5% or 0.05");
        options.margin = share(text).filter(|margin| (0.0..1.0).contains(margin)).ok_or_else(invalid)?;
    }
    let reports = with_baseline(&sides, &options, catalogue).map_err(not_found)?;
    let nothing = || Failure::new(runs::Exit::Other, "failed to compare: name two sides".to_owned());
    let report = reports.first().ok_or_else(nothing).map_err(not_found)?;
    let words = comparison::words(report, lang_of(question));
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
        comparison: comparison::json::document(report),
        texts: words.rows.into_iter().map(text).collect(),
        evidence: words.evidence.into_iter().map(evidence).collect(),
        sentence: words.answer,
        findings: words.findings,
        several: (reports.len() > 1).then(|| comparison::sides(&reports, lang_of(question))),
    })
}

/// Returns the sides: the first two, and all that are named beyond them.
fn sides(question: &Question) -> Result<Vec<String>, PageError> {
    let is_asked = |(place, name): &(usize, &&str)| *place < 2 || question.get(name).is_some();
    let names = SIDES.iter().enumerate().filter(is_asked);
    names.map(|(_, name)| side(question, name).map(str::to_owned)).collect()
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

    #[test]
    fn sides_follow_their_letters() {
        let asked = |query: &[(&str, &str)]| sides(&Question::of_run(View::Compare, "", query)).ok();
        let named = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        assert_eq!(asked(&[("a", "ab12"), ("b", "cd34")]), named(&["ab12", "cd34"]));
        let four = [("d", "12ab"), ("b", "cd34"), ("a", "ab12"), ("h", "34cd")];
        assert_eq!(asked(&four), named(&["ab12", "cd34", "12ab", "34cd"]));
        assert_eq!(asked(&[("a", "ab12"), ("c", "cd34")]), None, "the second side is missing");
        assert_eq!(asked(&[("a", "ab12"), ("b", "cd34"), ("c", "../x")]), None);
    }
}
