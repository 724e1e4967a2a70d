//! The first lines: the verdict, which run it is, and what to be careful about.

use crate::Lang;
use crate::document::{Imported, RunState, Verdict};
use crate::headline::sentence;
use crate::{RunReport, escape, number};

use super::Context;

/// Notes and tags that are shown at most.
const EXTRAS_MAX: usize = 20;

pub(super) fn render(context: &Context<'_>) -> String {
    let (report, lang) = (context.report, context.lang);
    let (verdict, _) = report.verdict();
    let mark = match verdict {
        _ if report.step_of_study().is_some() => "",
        Verdict::Pass => "✅ ",
        Verdict::Fail => "❌ ",
        Verdict::Inconclusive => "⚠️ ",
    };
    let validity = report.summary.validity.as_ref();
    let validity =
        validity.map(|validity| format!("**{}**\n\n", crate::validity::headline(validity, context.lang)));
    let mut text = validity.unwrap_or_default();
    text += &format!(
        "## {mark}{}\n\n{}\n",
        sentence(report, lang, &escape::markdown_text, &escape::markdown_code),
        facts(context)
    );
    for caveat in caveats(report, lang) {
        text += &format!("\n> {caveat}\n");
    }
    for note in report.identity.notes.iter().take(EXTRAS_MAX) {
        text += &format!("\n> {}: {}\n", lang.note(), escape::markdown_text(note));
    }
    text
}

/// Which run it is, in one line.
fn facts(context: &Context<'_>) -> String {
    let (identity, lang) = (&context.report.identity, context.lang);
    let code = escape::markdown_code;
    let mut facts = Vec::new();
    if !identity.name.is_empty() {
        facts.push(format!("**{}**", escape::markdown_text(&identity.name)));
    }
    if !identity.script.is_empty() {
        facts.push(code(&identity.script));
    }
    if !identity.id.is_empty() {
        facts.push(format!("{} {}", lang.run(), code(&identity.id)));
    }
    let is_start_known = context.report.imported.as_ref().is_none_or(|imported| imported.is_start_known);
    let started = if is_start_known { lang.started() } else { lang.imported() };
    facts.push(format!("{started} {}", api::rfc3339_s(identity.started_unix_ns)));
    facts.push(format!(
        "{} {}",
        lang.elapsed(),
        number::duration(identity.elapsed.as_secs_f64() * 1000.0, None)
    ));
    if !identity.commit.is_empty() {
        let dirty = if identity.is_dirty { format!(" ({})", lang.uncommitted()) } else { String::new() };
        facts.push(format!("{} {}{dirty}", lang.commit(), code(&identity.commit)));
    }
    if !identity.target_version.is_empty() {
        facts.push(format!("{} {}", lang.target(), code(&identity.target_version)));
    }
    if !identity.tags.is_empty() {
        let tag = |(key, value): &(String, String)| code(&format!("{key}={value}"));
        let mut tags: Vec<String> = identity.tags.iter().take(EXTRAS_MAX).map(tag).collect();
        if identity.tags.len() > EXTRAS_MAX {
            tags.push(lang.more_rows(identity.tags.len() - EXTRAS_MAX));
        }
        facts.push(format!("{} {}", lang.tags(), tags.join(" ")));
    }
    facts.join(" · ")
}

/// Formats the origin of an imported run and each item missing from its source, as the lines of one quotation.
fn origin(imported: &Imported, lang: Lang) -> String {
    let (source, file) = (escape::markdown_code(&imported.source), escape::markdown_code(&imported.file));
    let gaps =
        imported.gaps.iter().take(EXTRAS_MAX).map(|gap| format!("\n> * {}", escape::markdown_text(gap)));
    lang.imported_from(source, file) + "\n>" + &gaps.collect::<String>()
}

fn caveats(report: &RunReport, lang: Lang) -> Vec<String> {
    let mut caveats: Vec<String> = report.imported.iter().map(|imported| origin(imported, lang)).collect();
    match report.state {
        RunState::Complete => {}
        RunState::Partial => caveats.push(lang.partial_note().to_owned()),
        RunState::Live => caveats.push(lang.live_note().to_owned()),
    }
    if let Some(part) = report.window {
        let seconds = |time: std::time::Duration| number::duration(time.as_secs_f64() * 1000.0, None);
        caveats.push(lang.partial_range_note(seconds(part.from), seconds(part.to)));
    }
    caveats.extend(
        super::generator::losses(report, lang).into_iter().map(|(what, count)| format!("{what}: {count}")),
    );
    caveats
}
