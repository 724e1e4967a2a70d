//! The first lines: the verdict, which run it is, and what to be careful about.

use crate::document::{Imported, RunState, Verdict, Why};
use crate::lang::{Words, fill};
use crate::{RunReport, escape, number};

use super::Context;

/// Notes and tags that are shown at most.
const EXTRAS_MAX: usize = 20;

pub(super) fn render(context: &Context<'_>) -> String {
    let (report, words) = (context.report, context.words);
    let (verdict, _) = report.verdict();
    let mark = match verdict {
        Verdict::Pass => "✅",
        Verdict::Fail => "❌",
        Verdict::Inconclusive => "⚠️",
    };
    let validity = report.summary.validity.as_ref();
    let validity =
        validity.map(|validity| format!("**{}**\n\n", crate::validity::headline(validity, context.lang)));
    let mut text = validity.unwrap_or_default();
    text += &format!("## {mark} {}\n\n{}\n", sentence(report, words, &escape::markdown_text), facts(context));
    for caveat in caveats(report, words) {
        text += &format!("\n> {caveat}\n");
    }
    for note in report.identity.notes.iter().take(EXTRAS_MAX) {
        text += &format!("\n> {}: {}\n", words.note, escape::markdown_text(note));
    }
    text
}

/// The verdict in a sentence; `shown` makes foreign words harmless.
pub(crate) fn sentence(report: &RunReport, words: &Words, shown: &dyn Fn(&str) -> String) -> String {
    let (verdict, why) = report.verdict();
    let verdict = match verdict {
        Verdict::Pass => words.pass,
        Verdict::Fail => words.fail,
        Verdict::Inconclusive => words.inconclusive,
    };
    let message = report.outcome.as_ref().map_or("", |outcome| outcome.message.as_str());
    let number = |count: usize| count.to_string();
    let why = match why {
        Why::AllHeld(total) => fill(words.all_held, &[&number(total)]),
        Why::Crossed(crossed, total) => fill(words.crossed, &[&number(crossed), &number(total)]),
        Why::Exit(code) if message.is_empty() => fill(words.exit_code, &[&code.to_string()]),
        Why::Exit(code) => fill(words.exit_message, &[&code.to_string(), &shown(message)]),
        Why::Unmeasured(unmeasured, total) => fill(words.unmeasured, &[&number(unmeasured), &number(total)]),
        Why::NoThresholds => words.no_thresholds.to_owned(),
        Why::PartOnly => words.part_only.to_owned(),
        Why::Partial => words.partial.to_owned(),
        Why::Live => words.live.to_owned(),
    };
    format!("{verdict}: {why}")
}

/// Which run it is, in one line.
fn facts(context: &Context<'_>) -> String {
    let (identity, words) = (&context.report.identity, context.words);
    let code = escape::markdown_code;
    let mut facts = Vec::new();
    if !identity.name.is_empty() {
        facts.push(format!("**{}**", escape::markdown_text(&identity.name)));
    }
    if !identity.script.is_empty() {
        facts.push(code(&identity.script));
    }
    if !identity.id.is_empty() {
        facts.push(format!("{} {}", words.run, code(&identity.id)));
    }
    let is_start_known = context.report.imported.as_ref().is_none_or(|imported| imported.is_start_known);
    let started = if is_start_known { words.started } else { words.imported };
    facts.push(format!("{started} {}", api::rfc3339(identity.started_unix_ns)));
    facts.push(format!(
        "{} {}",
        words.elapsed,
        number::duration(identity.elapsed.as_secs_f64() * 1000.0, None)
    ));
    if !identity.commit.is_empty() {
        let dirty = if identity.is_dirty { format!(" ({})", words.uncommitted) } else { String::new() };
        facts.push(format!("{} {}{dirty}", words.commit, code(&identity.commit)));
    }
    if !identity.target_version.is_empty() {
        facts.push(format!("{} {}", words.target, code(&identity.target_version)));
    }
    if !identity.tags.is_empty() {
        let tag = |(key, value): &(String, String)| code(&format!("{key}={value}"));
        let mut tags: Vec<String> = identity.tags.iter().take(EXTRAS_MAX).map(tag).collect();
        if identity.tags.len() > EXTRAS_MAX {
            tags.push(fill(words.more_rows, &[&(identity.tags.len() - EXTRAS_MAX).to_string()]));
        }
        facts.push(format!("{} {}", words.tags, tags.join(" ")));
    }
    facts.join(" · ")
}

/// Where the run comes from and each thing that its source does not tell, as the lines of one quotation.
fn origin(imported: &Imported, words: &Words) -> String {
    let (source, file) = (escape::markdown_code(&imported.source), escape::markdown_code(&imported.file));
    let gaps =
        imported.gaps.iter().take(EXTRAS_MAX).map(|gap| format!("\n> * {}", escape::markdown_text(gap)));
    fill(words.imported_from, &[&source, &file]) + "\n>" + &gaps.collect::<String>()
}

fn caveats(report: &RunReport, words: &Words) -> Vec<String> {
    let mut caveats: Vec<String> = report.imported.iter().map(|imported| origin(imported, words)).collect();
    match report.state {
        RunState::Complete => {}
        RunState::Partial => caveats.push(words.partial_note.to_owned()),
        RunState::Live => caveats.push(words.live_note.to_owned()),
    }
    if let Some(part) = report.window {
        let seconds = |time: std::time::Duration| number::duration(time.as_secs_f64() * 1000.0, None);
        caveats.push(fill(words.part_note, &[&seconds(part.from), &seconds(part.to)]));
    }
    caveats.extend(
        super::generator::losses(report, words).into_iter().map(|(what, count)| format!("{what}: {count}")),
    );
    caveats
}
