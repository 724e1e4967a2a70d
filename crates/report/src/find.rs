//! The answer of `plimsoll find`: safe load, what ends it, the evidence, the first change and its predicted effect.

use api::diagnosis::{DiagnosisFinding, DiagnosisReport};
use api::find::{FindReport, SCHEMA_VERSION};
use model::capacity::{Capacity, LoadUnit, Place};

use crate::capacity::{self, StudyReport, sentences};
use crate::style::{BOLD, FAINT, GREEN, RED, YELLOW, width};
use crate::{Lang, Style, escape};

/// Columns of the labels on the left.
const LABEL_COLUMNS: usize = 13;

/// A capacity study with the diagnosis of its runs.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    /// The search.
    pub study: &'a StudyReport,
    /// The diagnosis from its lowest load to its highest; `None` where no run was valid.
    pub diagnosis: Option<&'a DiagnosisReport>,
}

/// The line before the first step: the SLOs of the search.
pub fn objectives(slos: &[String], lang: Lang) -> String {
    lang.find_objectives(slos.join("; "))
}

/// The answer as JSON text, indented, ending in a line break.
pub fn json(answer: &Answer<'_>) -> String {
    let document = FindReport {
        schema_version: SCHEMA_VERSION,
        capacity: capacity::document(answer.study, Lang::En),
        diagnosis: answer.diagnosis.cloned(),
    };
    // Types whose keys are texts and whose numbers are finite or null have a form in JSON, always.
    escape::json(&serde_json::to_string_pretty(&document).unwrap_or_default()) + "\n"
}

/// The answer for a terminal: one labelled line each for the load, its limit, the cause, the remedy and the prediction.
pub fn text(answer: &Answer<'_>, lang: Lang, style: Style) -> String {
    let mut lines = load_lines(answer, lang, style);
    if let Some(diagnosis) = answer.diagnosis {
        lines.extend(cause_lines(diagnosis, lang, style));
    }
    rows(lines, style)
}

/// The lines on the cause alone, as `plimsoll capacity` adds them to its tables.
pub fn cause(diagnosis: &DiagnosisReport, lang: Lang, style: Style) -> String {
    rows(cause_lines(diagnosis, lang, style), style)
}

fn rows(lines: Vec<Line>, style: Style) -> String {
    let row = |(label, text): Line| {
        let blanks = " ".repeat(LABEL_COLUMNS.saturating_sub(width(label)));
        format!("  {}{blanks} {text}\n", style.paint(FAINT, label))
    };
    style.fit(format!("\n{}", lines.into_iter().map(row).collect::<String>()))
}

/// A label with its text.
pub(crate) type Line = (&'static str, String);

fn load_lines(answer: &Answer<'_>, lang: Lang, style: Style) -> Vec<Line> {
    let Some(part) = answer.study.parts.first() else {
        return vec![(lang.find_safe_load(), style.paint(YELLOW, lang.find_nothing_measured()))];
    };
    let safe = safe_load(part, lang).map_or_else(
        || style.paint(RED, lang.find_no_safe_load()),
        |text| style.paint(BOLD, &style.paint(GREEN, &escape::terminal(&text))),
    );
    let limit = escape::terminal(&sentences::answer(part, lang));
    let confirmed = escape::terminal(&sentences::confirmed(part, lang));
    let mut lines = vec![(lang.find_safe_load(), safe), (lang.observed(), limit)];
    if !confirmed.is_empty() {
        lines.push((lang.find_confirmed(), confirmed));
    }
    lines
}

fn safe_load(part: &Capacity, lang: Lang) -> Option<String> {
    let (recommended, line) = (part.recommended?, part.line?);
    let load = sentences::load(recommended.load, part.unit, lang);
    let rate = match (part.unit, recommended.vus) {
        (LoadUnit::PerSecond, Some(vus)) => lang.find_busy(sentences::load(vus, LoadUnit::Vus, lang)),
        _ => lang.find_iterations(sentences::per_second(recommended.throughput_per_s).trim_end_matches("/s")),
    };
    let factor = sentences::short(recommended.head_room);
    if line.place == Place::AboveAll {
        return Some(lang.find_load_highest(load, rate, factor));
    }
    if line.confidence <= 0.0 {
        return Some(lang.find_load_estimate(load, rate, factor));
    }
    let lower = sentences::load(line.load.lower, part.unit, lang);
    Some(lang.find_load(load, rate, factor, lower))
}

pub(crate) fn cause_lines(diagnosis: &DiagnosisReport, lang: Lang, style: Style) -> Vec<Line> {
    let mut lines =
        vec![(lang.find_bottleneck(), style.paint(BOLD, &crate::diagnosis::outcome(diagnosis, lang, style)))];
    let limits = diagnosis.findings.first().filter(|finding| finding.role == "limits");
    match limits {
        Some(finding) => lines.extend(finding_lines(finding, lang)),
        None => {
            let missing = diagnosis.missing.first();
            lines.extend(missing.map(|missing| {
                (lang.find_connect(), escape::terminal(&format!("{}: {}", missing.what, missing.connect)))
            }));
        }
    }
    lines
}

fn finding_lines(finding: &DiagnosisFinding, lang: Lang) -> Vec<Line> {
    let mut lines = vec![
        (lang.find_evidence(), escape::terminal(&finding.claim)),
        (lang.find_change(), escape::terminal(&finding.remedy)),
    ];
    let Some(prediction) = &finding.prediction else { return lines };
    if let Some(then) = &prediction.then {
        let interval =
            then.interval.as_ref().map_or_else(String::new, |interval| format!(" {}", interval.text));
        let now = prediction.now.as_ref().map_or_else(|| "–".to_owned(), |now| now.text.clone());
        let then = format!("{}{interval}", then.text);
        // Iterations are counted per second too, in the line of the safe load.
        let text = match now.strip_suffix("/s") {
            Some(now) => lang.find_predicted_requests(now, then, &prediction.next_limit),
            None => lang.find_predicted(now, then, &prediction.next_limit),
        };
        lines.push((lang.find_prediction(), escape::terminal(&text)));
    }
    lines
}
