//! A run as Markdown, for a pull-request comment: the verdict, what it rests on, and the rest folded away.
//!
//! A section is one file and one line in [`CHAPTERS`].

mod blocks;
mod bottleneck;
mod capacity;
mod changes;
mod checks;
mod document;
mod endpoints;
mod environment;
mod errors;
mod evidence;
mod exemplars;
mod figures;
mod generator;
mod head;
mod lines;
mod log;
mod metrics;
mod numbers;
mod options;
mod parts;
mod raw;
mod summary;
mod table;
mod thresholds;
mod timeline;
mod validity;

pub use document::document;
pub(crate) use table::{Column, Table};

use std::borrow::Cow;

use api::page::Evidence;

use crate::{Lang, RunReport, escape};

/// Bytes of a report at most: GitHub refuses comments of more than 65,536 characters.
pub const BYTES_MAX: usize = 60_000;

/// Kept free for the line that says what was left out.
const LEFT_OUT_BYTES: usize = 1_000;

/// A chapter, in the order of the report.
struct Chapter {
    title: fn(Lang) -> &'static str,
    sections: &'static [Section],
}

/// A section of a chapter, in order.
struct Section {
    title: fn(Lang) -> &'static str,
    /// The text without the title; `None` where there is nothing to say.
    body: fn(&Context<'_>) -> Option<String>,
    /// Whether it is seen without a click.
    is_open: bool,
    /// The note where the section is empty; `None` where it is left out then.
    missing: fn(&Context<'_>) -> Option<Cow<'static, str>>,
}

impl Section {
    const fn open(title: fn(Lang) -> &'static str, body: fn(&Context<'_>) -> Option<String>) -> Section {
        Section { title, body, is_open: true, missing: |_| None }
    }

    const fn folded(title: fn(Lang) -> &'static str, body: fn(&Context<'_>) -> Option<String>) -> Section {
        Section { is_open: false, ..Section::open(title, body) }
    }

    const fn or(self, missing: fn(&Context<'_>) -> Option<Cow<'static, str>>) -> Section {
        Section { missing, ..self }
    }
}

/// The input of every section.
struct Context<'a> {
    report: &'a RunReport,
    lang: Lang,
    /// Server-side evidence; `None` where none was collected.
    evidence: Option<Evidence>,
    /// Bytes of one table at most.
    table_bytes: usize,
}

/// Chapters in the usual order of a test report: outcome, objectives, results, servers, logs, bottleneck, changes, and the raw
/// data that verifies them.
const CHAPTERS: &[Chapter] = &[
    Chapter {
        title: Lang::chapter_summary,
        sections: &[
            Section::open(Lang::chapter_summary, summary::body),
            Section::folded(Lang::measurement_validity, validity::body),
        ],
    },
    Chapter {
        title: Lang::chapter_configuration,
        sections: &[Section::open(Lang::timeline, timeline::body)],
    },
    Chapter {
        title: Lang::chapter_results,
        sections: &[
            Section::open(Lang::thresholds, thresholds::body),
            Section::open(Lang::key_numbers, numbers::body)
                .or(|context| Some(context.lang.missing_results().into())),
            Section::open(Lang::figures, figures::body),
            Section::open(Lang::endpoints, endpoints::body),
            Section::open(Lang::errors, errors::body),
            Section::open(Lang::checks, checks::body),
            Section::folded(Lang::exemplars, exemplars::body),
            Section::folded(Lang::scenarios_and_groups, parts::body),
            Section::folded(Lang::metrics, metrics::body),
        ],
    },
    Chapter {
        title: Lang::chapter_infrastructure,
        sections: &[Section::open(Lang::evidence_title_configuration, evidence::configuration)
            .or(|context| Some(context.lang.missing_infrastructure().into()))],
    },
    Chapter {
        title: Lang::evidence_title,
        sections: &[
            Section::open(Lang::evidence_title_sources, evidence::body)
                .or(|context| Some(context.lang.missing_evidence().into())),
            Section::open(Lang::evidence_title_queues, evidence::queues)
                .or(|context| context.evidence.as_ref().map(|_| context.lang.missing_queues().into())),
            Section::open(Lang::evidence_title_paths, evidence::ways),
            Section::open(Lang::evidence_title_database, evidence::database)
                .or(|context| context.evidence.as_ref().map(|_| context.lang.missing_database().into())),
            Section::folded(Lang::evidence_title_profiles, evidence::profiles),
            Section::folded(Lang::evidence_title_lanes, evidence::lanes),
        ],
    },
    Chapter {
        title: Lang::chapter_logs,
        sections: &[
            Section::open(Lang::evidence_title_tasks, evidence::tasks)
                .or(|context| Some(context.lang.missing_tasks().into())),
            Section::folded(Lang::log, log::body),
        ],
    },
    Chapter {
        title: Lang::chapter_bottleneck,
        sections: &[
            Section::open(Lang::bottleneck_time, bottleneck::times),
            Section::open(Lang::bottleneck_findings, bottleneck::findings)
                .or(|context| Some(bottleneck::missing(context).into())),
            Section::open(Lang::bottleneck_ruled_out, bottleneck::ruled_out),
            Section::open(Lang::bottleneck_missing_evidence, bottleneck::connect),
        ],
    },
    Chapter {
        title: Lang::chapter_comparison,
        sections: &[
            Section::open(Lang::chapter_changes, changes::body).or(|context| Some(changes::missing(context))),
            Section::open(Lang::capacity_title, capacity::body)
                .or(|context| Some(context.lang.missing_capacity().into())),
        ],
    },
    Chapter {
        title: Lang::chapter_appendix,
        sections: &[
            Section::folded(Lang::evidence_title_queries, evidence::queries),
            Section::folded(Lang::generator, generator::body),
            Section::folded(Lang::environment, environment::body),
            Section::folded(Lang::options, options::body),
            Section::folded(Lang::raw_results, raw::results),
            Section::open(Lang::raw_data, raw::commands),
        ],
    },
];

/// The run as Markdown of at most [`BYTES_MAX`] bytes; what did not fit is named at its end.
pub fn render(report: &RunReport, lang: Lang) -> String {
    render_within(report, lang, BYTES_MAX)
}

/// Renders within a given limit, bytes; a limit below a few kilobytes leaves no space for the head.
pub fn render_within(report: &RunReport, lang: Lang, bytes_max: usize) -> String {
    let context = Context::new(report, lang, bytes_max);
    let footer = format!("\n<sub>{}</sub>\n", footer(&context));
    let mut text = head::render(&context);
    let mut parts: Vec<RenderedSection> =
        (0..).zip(CHAPTERS).flat_map(|(chapter, of)| of.parts(chapter, &context)).collect();
    let left_out = fit(&mut parts, bytes_max.saturating_sub(text.len() + footer.len() + LEFT_OUT_BYTES));
    for (number, chapter) in CHAPTERS.iter().enumerate() {
        let mut sections = parts.iter().filter(|part| part.chapter == number).peekable();
        if sections.peek().is_some() {
            text += &chapter.heading(number, context.lang);
            text.extend(sections.map(|part| part.text.as_str()));
        }
    }
    text + &left_out_note(&left_out, bytes_max, &context) + &footer
}

impl<'a> Context<'a> {
    /// For a report within a limit, bytes.
    fn new(report: &'a RunReport, lang: Lang, bytes_max: usize) -> Context<'a> {
        let collected = &report.evidence;
        let evidence = (!collected.is_empty()).then(|| collected.shown(lang, evidence::POINTS_MAX));
        Context { report, lang, evidence, table_bytes: bytes_max / 4 }
    }
}

/// Names the sections that did not fit; empty where all did.
fn left_out_note(left_out: &[&str], bytes_max: usize, context: &Context<'_>) -> String {
    if left_out.is_empty() {
        return String::new();
    }
    let id = escape::short(&context.report.identity.id);
    let id = id.replace(|glyph: char| !glyph.is_ascii_alphanumeric(), "");
    format!("\n> {}\n", context.lang.left_out(bytes_max, left_out.join(", "), id))
}

/// A section rendered as text.
struct RenderedSection {
    chapter: usize,
    title: &'static str,
    /// The text below the title.
    body: String,
    /// The text with its title.
    text: String,
    is_open: bool,
}

/// Leaves out what does not fit, and returns its titles: the largest folded section first, and open ones from the last on.
fn fit(parts: &mut Vec<RenderedSection>, bytes_max: usize) -> Vec<&'static str> {
    let mut left_out = Vec::new();
    while parts.iter().map(|part| part.text.len()).sum::<usize>() > bytes_max {
        let folded = (0..parts.len()).filter(|at| !parts[*at].is_open).max_by_key(|at| parts[*at].text.len());
        let Some(at) = folded.or(parts.len().checked_sub(1)) else { break };
        left_out.push(parts.remove(at).title);
    }
    left_out
}

impl Chapter {
    /// The first has no number, as a summary has none.
    fn heading(&self, number: usize, lang: Lang) -> String {
        let title = (self.title)(lang);
        if number == 0 { format!("\n### {title}\n") } else { format!("\n### {number}. {title}\n") }
    }

    fn parts(&self, chapter: usize, context: &Context<'_>) -> Vec<RenderedSection> {
        let own = (self.title)(context.lang);
        let part = |section: &Section| {
            let title = (section.title)(context.lang);
            let (body, text) = section.render(context, title == own)?;
            Some(RenderedSection { chapter, title, body, text, is_open: section.is_open })
        };
        self.sections.iter().filter_map(part).collect()
    }
}

impl Section {
    /// Returns the text without its title, and with it unless that is the chapter's own.
    fn render(&self, context: &Context<'_>, is_titled: bool) -> Option<(String, String)> {
        let title = (self.title)(context.lang);
        let Some(body) = (self.body)(context) else {
            let missing = (self.missing)(context)?.into_owned();
            let text = format!("\n**{title}.** {missing}\n");
            return Some((missing, text));
        };
        let text = match (self.is_open, is_titled) {
            (true, true) => format!("\n{body}"),
            (true, false) => format!("\n#### {title}\n\n{body}"),
            (false, _) => format!("\n<details><summary>{title}</summary>\n\n{body}\n</details>\n"),
        };
        Some((body, text))
    }
}

fn footer(context: &Context<'_>) -> String {
    let version = escape::markdown_text(&context.report.identity.plimsoll_version);
    let by = if version.is_empty() { String::new() } else { format!(" · plimsoll {version}") };
    format!("{}{by}", context.lang.precision_note())
}
