//! A run as Markdown, for a pull-request comment: the verdict, what it rests on, and the rest folded away.
//!
//! A section is one file and one line in [`SECTIONS`].

mod checks;
mod endpoints;
mod environment;
mod errors;
mod evidence;
mod exemplars;
mod figures;
mod generator;
mod head;
mod log;
mod metrics;
mod numbers;
mod options;
mod parts;
mod table;
mod thresholds;
mod validity;

pub(crate) use head::sentence;
pub(crate) use table::{Column, Table};

use api::page::Evidence;

use crate::lang::{Words, fill};
use crate::{Lang, RunReport, escape};

/// Bytes of a report at most: GitHub refuses comments of more than 65,536 characters.
pub const BYTES_MAX: usize = 60_000;

/// Kept free for the line that says what was left out.
const LEFT_OUT_BYTES: usize = 1_000;

/// A section, in the order of the report.
struct Section {
    title: fn(&Words) -> &'static str,
    /// The text without the title; `None` where there is nothing to say.
    body: fn(&Context<'_>) -> Option<String>,
    /// Whether it is seen without a click.
    is_open: bool,
}

/// What every section reads.
struct Context<'a> {
    report: &'a RunReport,
    words: &'static Words,
    lang: Lang,
    /// What the servers did; `None` where nobody told anything.
    evidence: Option<Evidence>,
    /// Bytes of one table at most.
    table_bytes: usize,
}

const SECTIONS: &[Section] = &[
    Section { title: |words| words.trust, body: validity::body, is_open: false },
    Section { title: |words| words.thresholds, body: thresholds::body, is_open: true },
    Section { title: |words| words.key_numbers, body: numbers::body, is_open: true },
    Section { title: |words| words.figures, body: figures::body, is_open: true },
    Section { title: |words| words.endpoints, body: endpoints::body, is_open: true },
    Section { title: |words| words.errors, body: errors::body, is_open: true },
    Section { title: |words| words.checks, body: checks::body, is_open: true },
    Section { title: |words| words.exemplars, body: exemplars::body, is_open: false },
    Section { title: |words| words.parts, body: parts::body, is_open: false },
    Section { title: |words| words.metrics, body: metrics::body, is_open: false },
    Section { title: |words| words.ev_title, body: evidence::body, is_open: true },
    Section { title: |words| words.ev_title_configuration, body: evidence::configuration, is_open: false },
    Section { title: |words| words.ev_title_ways, body: evidence::ways, is_open: true },
    Section { title: |words| words.ev_title_queues, body: evidence::queues, is_open: true },
    Section { title: |words| words.ev_title_database, body: evidence::database, is_open: true },
    Section { title: |words| words.ev_title_tasks, body: evidence::tasks, is_open: true },
    Section { title: |words| words.ev_title_profiles, body: evidence::profiles, is_open: false },
    Section { title: |words| words.ev_title_lanes, body: evidence::lanes, is_open: false },
    Section { title: |words| words.ev_title_queries, body: evidence::queries, is_open: false },
    Section { title: |words| words.generator, body: generator::body, is_open: false },
    Section { title: |words| words.environment, body: environment::body, is_open: false },
    Section { title: |words| words.options, body: options::body, is_open: false },
    Section { title: |words| words.log, body: log::body, is_open: false },
];

/// The run as Markdown of at most [`BYTES_MAX`] bytes; what did not fit is named at its end.
pub fn render(report: &RunReport, lang: Lang) -> String {
    render_within(report, lang, BYTES_MAX)
}

/// The same with a limit of choice, bytes; limits below a few kilobytes leave no room for the head.
pub fn render_within(report: &RunReport, lang: Lang, bytes_max: usize) -> String {
    let told = &report.evidence;
    let evidence = (!told.is_empty()).then(|| told.shown(lang, evidence::POINTS_MAX));
    let context = Context { report, words: lang.words(), lang, evidence, table_bytes: bytes_max / 4 };
    let footer = format!("\n<sub>{}</sub>\n", footer(&context));
    let mut text = head::render(&context);
    let mut left_out = Vec::new();
    for section in SECTIONS {
        let Some(part) = section.render(&context) else { continue };
        if text.len() + part.len() + footer.len() + LEFT_OUT_BYTES <= bytes_max {
            text += &part;
        } else {
            left_out.push((section.title)(context.words));
        }
    }
    if !left_out.is_empty() {
        let id = escape::short(&report.identity.id).replace(|glyph: char| !glyph.is_ascii_alphanumeric(), "");
        let sentence = fill(context.words.left_out, &[&bytes_max.to_string(), &left_out.join(", "), &id]);
        text += &format!("\n> {sentence}\n");
    }
    text + &footer
}

impl Section {
    fn render(&self, context: &Context<'_>) -> Option<String> {
        let body = (self.body)(context)?;
        let title = (self.title)(context.words);
        Some(match self.is_open {
            true => format!("\n### {title}\n\n{body}"),
            false => format!("\n<details><summary>{title}</summary>\n\n{body}\n</details>\n"),
        })
    }
}

fn footer(context: &Context<'_>) -> String {
    let version = escape::markdown_text(&context.report.identity.plimsoll_version);
    let by = if version.is_empty() { String::new() } else { format!(" · plimsoll {version}") };
    format!("{}{by}", context.words.precision_note)
}
