//! The executive summary: the test, the objectives that were missed, the bottleneck, the safe load, the next step and its
//! predicted effect, and the changes since the run before.

use api::diagnosis::{DiagnosisFinding, DiagnosisReport};

use crate::Lang;
use crate::document::Judged;
use crate::escape::{markdown_code, markdown_prose, markdown_text};
use crate::{comparison, headline, number};

use super::{Context, bottleneck, capacity, numbers};

/// Missed objectives that are named.
const OBJECTIVES_MAX: usize = 3;

/// The outcomes of a diagnosis that names a bottleneck of the target.
const LIMITED: &str = "limited";

/// The outcome of a diagnosis that finds no resource of the target at its limit.
const UNLIMITED: &str = "no_server_bottleneck";

/// The outcome of a diagnosis that finds the load generator at its limit.
const GENERATOR: &str = "generator";

pub(super) fn body(context: &Context<'_>) -> Option<String> {
    let lang = context.lang;
    let mut lines = vec![(lang.summary_tested(), tested(context))];
    lines.extend(missed(context).map(|text| (lang.summary_missed(), text)));
    if let Some(diagnosis) = &context.report.diagnosis {
        lines.push((lang.chapter_bottleneck(), markdown_prose(&diagnosis.headline)));
        lines.extend(
            contributing(diagnosis).map(|finding| (lang.largest_cost(), markdown_prose(&finding.title))),
        );
    }
    if let Some(part) = capacity::part(context) {
        let sentences = [&part.sentence, &part.plan].into_iter().filter(|text| !text.is_empty());
        let sentences: Vec<String> = sentences.map(|text| markdown_prose(text)).collect();
        lines.push((lang.find_safe_load(), sentences.join(" ")));
    }
    if let Some(diagnosis) = &context.report.diagnosis {
        lines.extend(next_step(diagnosis, lang));
    }
    if let Some(previous) = &context.report.previous {
        lines.push((lang.chapter_changes(), comparison::closing(previous, lang)));
    }
    Some(lines.iter().map(|(title, text)| format!("* **{title}**: {}\n", text.trim())).collect())
}

/// Returns the script, the version of the target, the load, the time and the number of requests.
fn tested(context: &Context<'_>) -> String {
    let (report, lang) = (context.report, context.lang);
    let identity = &report.identity;
    let named = |text: &str| (!text.is_empty()).then(|| markdown_code(text));
    let target = named(&identity.target_version).map(|target| format!("{} {target}", lang.target()));
    let elapsed = number::duration(identity.elapsed.as_secs_f64() * 1000.0, None);
    let requests = numbers::requests(context).map(|count| lang.summary_requests(count));
    let parts = [named(&identity.script), target, headline::load(report, lang), Some(elapsed), requests];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// Returns the objectives that were missed, each with its value and its limit.
fn missed(context: &Context<'_>) -> Option<String> {
    let (report, lang) = (context.report, context.lang);
    let judged = report.judged();
    let mut missed: Vec<&Judged<'_>> = judged.iter().filter(|one| !one.threshold.ok).collect();
    missed.sort_by(|a, b| headline::importance(b, a));
    let named = missed.iter().take(OBJECTIVES_MAX);
    let mut texts: Vec<String> = named.map(|one| headline::objective(one, lang, &markdown_code)).collect();
    if missed.len() > OBJECTIVES_MAX {
        texts.push(lang.more_rows(missed.len() - OBJECTIVES_MAX));
    }
    (!texts.is_empty()).then(|| texts.join("; "))
}

/// The largest cost of a target that nothing limits.
fn contributing(diagnosis: &DiagnosisReport) -> Option<&DiagnosisFinding> {
    diagnosis.findings.first().filter(|_| diagnosis.outcome == UNLIMITED)
}

/// Returns the remedy of the bottleneck, or of the largest cost, and the effect that is predicted for it; without either, the
/// evidence to collect. A load generator at its limit comes first.
fn next_step(diagnosis: &DiagnosisReport, lang: Lang) -> Vec<(&'static str, String)> {
    if diagnosis.outcome == GENERATOR {
        return vec![(lang.summary_next(), lang.summary_relieve().to_owned())];
    }
    let limiting = diagnosis.findings.first().filter(|_| diagnosis.outcome == LIMITED);
    if let Some(finding) = limiting.or_else(|| contributing(diagnosis)) {
        let remedy = (lang.summary_next(), markdown_prose(&finding.remedy));
        let effect = effect(finding, lang).map(|effect| (lang.summary_effect(), effect));
        return std::iter::once(remedy).chain(effect).collect();
    }
    let missing = diagnosis.missing.first().map(|missing| {
        let (what, tells) = (markdown_text(&missing.what), markdown_prose(&missing.tells));
        (lang.summary_next(), lang.summary_collect(what, tells))
    });
    missing.into_iter().collect()
}

/// Returns the throughput that is predicted after the remedy, and that of now.
fn effect(finding: &DiagnosisFinding, lang: Lang) -> Option<String> {
    let prediction = finding.prediction.as_ref()?;
    let then = prediction.then.as_ref()?;
    let interval = then.interval.as_ref().map_or("", |interval| interval.text.as_str());
    let then = format!("{} {}", bottleneck::number(then), markdown_text(interval));
    Some(match &prediction.now {
        Some(now) => lang.summary_throughput_from(bottleneck::number(now), then.trim()),
        None => lang.summary_throughput(then.trim()),
    })
}
