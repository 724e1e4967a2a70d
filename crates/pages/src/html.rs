//! `report --format html`: the page in one file, together with all answers that it requests.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use api::page::{RunList, RunRow};
use catalogue::{Catalogue, Location};
use report::Lang;
use server::{PageError, Question, View};

use super::about::Mode;
use super::remarks::Remark;
use super::reopen;
use super::scope::{Detail, Scope};
use super::{Beside, about, capacity, json, list, of_run, requests, traces, whole};

/// The page without data.
const TEMPLATE: &str = "report.html";

/// The placeholder for the data in the template.
const GAP: &str = "<!--plimsoll-data-->";

/// The page of a program that was built without its user interface.
const ABSENT: &str = "<!doctype html><html><meta charset=\"utf-8\"><title>Plimsoll</title>\n\
    <p>This program was built without its page; the run's numbers are in this file as JSON.\n<!--plimsoll-data-->\n";

/// Maximum number of endpoints whose distribution is embedded: the busiest ones.
const ENDPOINTS_MAX: usize = 20;

/// Views of the run that are embedded.
const VIEWS: [View; 15] = [
    View::Run,
    View::Series,
    View::Requests,
    View::Distribution,
    View::Errors,
    View::Logs,
    View::Generator,
    View::Validity,
    View::Fleet,
    View::Audit,
    View::Thresholds,
    View::Traces,
    View::Services,
    View::Evidence,
    View::Diagnosis,
];

/// Renders a run as one self-contained HTML file.
///
/// # Errors
/// The run's file is damaged.
pub fn render(path: &Path, range: Option<std::ops::Range<u32>>, lang: Lang) -> Result<String, PageError> {
    let data = data(path, range, lang)?;
    let template = server::page_file(TEMPLATE).filter(|text| text.contains(GAP)).unwrap_or(ABSENT);
    let element =
        format!("<script type=\"application/json\" id=\"plimsoll-data\">{}</script>", escaped(&data));
    Ok(template.replacen(GAP, &element, 1))
}

/// Escapes JSON so that HTML parsers see no tag: `</script>` would end the data, and `<!--` hides the rest.
fn escaped(json: &str) -> String {
    json.replace("<", "\\u003c")
}

fn data(path: &Path, range: Option<std::ops::Range<u32>>, lang: Lang) -> Result<String, PageError> {
    let part = range.as_ref().map(|range| (range.start.to_string(), range.end.to_string()));
    let mut query = vec![("lang", lang.code())];
    if let Some((from, to)) = &part {
        query.extend([("from", from.as_str()), ("to", to.as_str())]);
    }
    let scope = Scope::open(path, &Question::of_run(View::Run, "", &query), Detail::INLINED, Arc::default())?;
    let id = scope.reader.header().run_id.clone();
    let beside = Beside { remark: Remark::default(), reopen: reopen("", &id) };
    let mut answers: BTreeMap<String, String> = BTreeMap::new();
    for view in VIEWS {
        let question = Question::of_run(view, &id, &[]);
        answers.insert(question.path(), of_run(&scope, &question, &beside)?);
    }
    for tags in requests::busiest(&scope, ENDPOINTS_MAX)? {
        let question = Question::of_run(View::Distribution, &id, &[("tags", &tags)]);
        answers.insert(question.path(), of_run(&scope, &question, &beside)?);
    }
    for trace in traces::standing_for_others(&scope)? {
        let question = Question::of_part(View::Trace, &id, &trace);
        answers.insert(question.path(), of_run(&scope, &question, &beside)?);
    }
    if let Some(folder) = path.parent() {
        // The levels of a study and the run before are stored in the same folder.
        let catalogue = Catalogue::open(Location::Directory(folder.to_owned()), folder);
        let question = |view| Question::of_run(view, &id, &[("lang", lang.code())]);
        let answer = capacity::answer(path, &catalogue, &question(View::Capacity))?;
        answers.insert(Question::of_run(View::Capacity, &id, &[]).path(), answer);
        let report = match range {
            Some(range) => whole::of_part(path, range, lang)?,
            None => whole::document(path, &catalogue, lang)?,
        };
        answers.insert(Question::of_run(View::Report, &id, &[]).path(), json(&report)?);
        if let Some(objective) = report.objective {
            let query = [("metric", objective.metric.as_str()), ("tags", objective.tags.as_str())];
            let query: Vec<(&str, &str)> = query.into_iter().filter(|(_, text)| !text.is_empty()).collect();
            let question = Question::of_run(View::Series, &id, &query);
            answers.insert(question.path(), of_run(&scope, &question, &beside)?);
        }
    }
    let of_all = |view| Question::of_run(view, "", &[]).path();
    answers.insert(of_all(View::About), about::answer(Mode::Report, "", Some(&id))?);
    let bytes = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    let row: RunRow = list::summarize(&scope, bytes)?;
    let runs = RunList { place: String::new(), runs: vec![row], before: None, unreadable: Vec::new() };
    answers.insert(of_all(View::Runs), json(&runs)?);
    // The answers are JSON already, so they are inserted unchanged.
    let pair = |(path, answer): (&String, &String)| Ok(format!("{}:{}", json(path)?, answer.trim_end()));
    let pairs: Vec<String> = answers.iter().map(pair).collect::<Result<_, PageError>>()?;
    Ok(format!("{{\"lang\":{},\"answers\":{{{}}}}}", json(&lang.code())?, pairs.join(",")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_ends_the_data() {
        let text = serde_json::json!({ "</script><!--": "<script>alert(1)</script>" }).to_string();
        let safe = escaped(&text);
        assert!(!safe.contains('<'), "{safe}");
        let read: serde_json::Value = serde_json::from_str(&safe).expect("still JSON");
        assert_eq!(read.to_string(), text);
    }
}
