//! Formats of GitHub Actions: annotations, step summary, step outputs.
//!
//! The formats are those of GitHub's "Workflow commands for GitHub Actions".

use model::Grade;

use crate::document::{Judged, Verdict, Why};
use crate::escape::{github_message, github_property, short};
use crate::summary::{Statistic, Values};
use crate::{Lang, RunReport, headline, markdown};

/// Annotations at most: GitHub shows ten of a kind per step, and other tools of the step want some too.
pub const ANNOTATIONS_MAX: usize = 8;

/// Bytes of a step's summary at most; GitHub refuses more than 1 MiB per step.
pub const SUMMARY_BYTES_MAX: usize = 200_000;

/// Workflow commands (`::error …`), one a line, for standard output; empty where there is nothing to draw attention to.
pub fn annotations(report: &RunReport, lang: Lang) -> String {
    let judged = report.judged();
    let crossed: Vec<&Judged<'_>> = judged.iter().filter(|one| !one.threshold.ok).collect();
    let sentence = headline::sentence(report, lang, &short, &short);
    let distrust = distrust(report, lang).map(|line| command("warning", report, lang.validity(), &line));
    let room = ANNOTATIONS_MAX - usize::from(distrust.is_some());
    let command = |level: &str, message: &str| command(level, report, lang.thresholds(), message);
    let of_verdict = match report.verdict() {
        // An invalid measurement has an annotation already.
        (Verdict::Pass, _) | (_, Why::NoThresholds | Why::Invalid(_)) => String::new(),
        (Verdict::Fail, Why::Crossed(..)) => {
            let has_more = crossed.len() > room;
            let shown = if has_more { room - 1 } else { crossed.len() };
            let mut text: String =
                crossed[..shown].iter().map(|one| command("error", &threshold(one, lang))).collect();
            if has_more {
                let more = (crossed.len() - shown).to_string();
                text += &command("error", &lang.annotations_more(more));
            }
            text
        }
        (Verdict::Fail, _) => command("error", &sentence),
        (Verdict::Inconclusive, _) => command("warning", &sentence),
    };
    distrust.unwrap_or_default() + &of_verdict
}

/// The annotation of an invalid or degraded measurement.
fn distrust(report: &RunReport, lang: Lang) -> Option<String> {
    let validity = report.summary.validity.as_ref()?;
    (validity.grade > Grade::Unmeasured).then(|| crate::validity::headline(validity, lang))
}

/// The Markdown to append to the file that `GITHUB_STEP_SUMMARY` names.
pub fn step_summary(report: &RunReport, lang: Lang) -> String {
    markdown::render_within(report, lang, SUMMARY_BYTES_MAX)
}

/// The lines to append to the file that `GITHUB_OUTPUT` names: `verdict` (`pass`, `fail`, `inconclusive`), `validity`
/// (`valid`, `unmeasured`, `degraded`, `invalid`; empty where it was not judged), `run_id`, `p95`
/// (the 95th percentile of `http_req_duration` as the terminal shows it) and `p95_ms` (its number; a lower bound where the
/// text says so, empty where there is none).
pub fn outputs(report: &RunReport) -> String {
    let p95 = p95(report);
    let (p95, p95_ms) = p95.unwrap_or_default();
    let validity = report.summary.validity.as_ref();
    let all = [
        ("verdict", report.verdict().0.as_str().to_owned()),
        ("validity", validity.map_or_else(String::new, |validity| validity.grade.as_str().to_owned())),
        ("run_id", report.identity.id.clone()),
        ("p95", p95),
        ("p95_ms", p95_ms),
    ];
    all.iter().map(|(name, value)| output(name, value)).collect()
}

fn command(level: &str, report: &RunReport, about: &str, message: &str) -> String {
    let script = &report.identity.script;
    // A file of an annotation is a path in the repository; standard input and URLs are none.
    let is_file = !script.is_empty() && script != "-" && !script.contains("://");
    let file = if is_file { format!("file={},", github_property(&short(script))) } else { String::new() };
    let title = github_property(&format!("plimsoll: {about}"));
    format!("::{level} {file}title={title}::{}\n", github_message(message))
}

fn threshold(judged: &Judged<'_>, lang: Lang) -> String {
    let (metric, source) = (short(&judged.metric.name), short(&judged.threshold.source));
    lang.annotation(metric, source, judged.observed_text(), judged.limit_text())
}

/// As text and as a number.
fn p95(report: &RunReport) -> Option<(String, String)> {
    let metric = report.summary.metrics.iter().find(|metric| metric.name == "http_req_duration")?;
    let Values::Trend { stats, .. } = &metric.values else { return None };
    let (name, statistic) = stats.iter().find(|(name, _)| name == "p(95)")?;
    let text = crate::summary::statistic_text(*statistic, name, metric, &report.number_options());
    let number = match statistic {
        Statistic::Number(value) | Statistic::AtLeast(value, _) => value.to_string(),
        Statistic::Failed | Statistic::NotApplicable(_) => String::new(),
    };
    Some((text, number))
}

/// `name<<delimiter`, the value, the delimiter: one that is not in the value, so that no value can name further outputs.
fn output(name: &str, value: &str) -> String {
    let value = short(value);
    let mut delimiter = "plimsoll".to_owned();
    while value.contains(&delimiter) {
        delimiter.push('_');
    }
    format!("{name}<<{delimiter}\n{value}\n{delimiter}\n")
}
