//! A run as Markdown, for a pull-request comment: the verdict, what it rests on, and the rest folded away.
//!
//! A section is one file and one line in [`CHAPTERS`].

mod bottleneck;
mod capacity;
mod changes;
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
mod raw;
mod summary;
mod table;
mod thresholds;
mod timeline;
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

/// A chapter, in the order of the report.
struct Chapter {
    title: fn(&Words) -> &'static str,
    sections: &'static [Section],
}

/// A section of a chapter, in order.
struct Section {
    title: fn(&Words) -> &'static str,
    /// The text without the title; `None` where there is nothing to say.
    body: fn(&Context<'_>) -> Option<String>,
    /// Whether it is seen without a click.
    is_open: bool,
    /// What to connect where there is nothing to say; `None` where nobody misses it.
    missing: fn(&Context<'_>) -> Option<&'static str>,
}

impl Section {
    const fn open(title: fn(&Words) -> &'static str, body: fn(&Context<'_>) -> Option<String>) -> Section {
        Section { title, body, is_open: true, missing: |_| None }
    }

    const fn folded(title: fn(&Words) -> &'static str, body: fn(&Context<'_>) -> Option<String>) -> Section {
        Section { is_open: false, ..Section::open(title, body) }
    }

    const fn or(self, missing: fn(&Context<'_>) -> Option<&'static str>) -> Section {
        Section { missing, ..self }
    }
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

/// What teams write by hand after a test, in their order: what came out, what was asked, the results, the servers, the logs, what
/// limits, what changed, and everything that is needed to check it.
const CHAPTERS: &[Chapter] = &[
    Chapter {
        title: |words| words.ch_summary,
        sections: &[
            Section::open(|words| words.ch_summary, summary::body),
            Section::folded(|words| words.trust, validity::body),
        ],
    },
    Chapter {
        title: |words| words.ch_configuration,
        sections: &[Section::open(|words| words.timeline, timeline::body)],
    },
    Chapter {
        title: |words| words.ch_results,
        sections: &[
            Section::open(|words| words.thresholds, thresholds::body),
            Section::open(|words| words.key_numbers, numbers::body)
                .or(|context| Some(context.words.miss_results)),
            Section::open(|words| words.figures, figures::body),
            Section::open(|words| words.endpoints, endpoints::body),
            Section::open(|words| words.errors, errors::body),
            Section::open(|words| words.checks, checks::body),
            Section::folded(|words| words.exemplars, exemplars::body),
            Section::folded(|words| words.parts, parts::body),
            Section::folded(|words| words.metrics, metrics::body),
        ],
    },
    Chapter {
        title: |words| words.ch_infrastructure,
        sections: &[Section::open(|words| words.ev_title_configuration, evidence::configuration)
            .or(|context| Some(context.words.miss_infrastructure))],
    },
    Chapter {
        title: |words| words.ev_title,
        sections: &[
            Section::open(|words| words.ev_title_sources, evidence::body)
                .or(|context| Some(context.words.miss_evidence)),
            Section::open(|words| words.ev_title_queues, evidence::queues)
                .or(|context| context.evidence.as_ref().map(|_| context.words.miss_queues)),
            Section::open(|words| words.ev_title_ways, evidence::ways),
            Section::open(|words| words.ev_title_database, evidence::database)
                .or(|context| context.evidence.as_ref().map(|_| context.words.miss_database)),
            Section::folded(|words| words.ev_title_profiles, evidence::profiles),
            Section::folded(|words| words.ev_title_lanes, evidence::lanes),
        ],
    },
    Chapter {
        title: |words| words.ch_logs,
        sections: &[
            Section::open(|words| words.ev_title_tasks, evidence::tasks)
                .or(|context| Some(context.words.miss_tasks)),
            Section::folded(|words| words.log, log::body),
        ],
    },
    Chapter {
        title: |words| words.ch_bottleneck,
        sections: &[
            Section::open(|words| words.bn_time, bottleneck::times),
            Section::open(|words| words.bn_findings, bottleneck::findings)
                .or(|context| Some(bottleneck::missing(context))),
            Section::open(|words| words.bn_ruled_out, bottleneck::ruled_out),
            Section::open(|words| words.bn_connect, bottleneck::connect),
        ],
    },
    Chapter {
        title: |words| words.ch_comparison,
        sections: &[
            Section::open(|words| words.ch_changes, changes::body)
                .or(|context| Some(context.words.miss_changes)),
            Section::open(|words| words.cap_title, capacity::body)
                .or(|context| Some(context.words.miss_capacity)),
        ],
    },
    Chapter {
        title: |words| words.ch_appendix,
        sections: &[
            Section::folded(|words| words.ev_title_queries, evidence::queries),
            Section::folded(|words| words.generator, generator::body),
            Section::folded(|words| words.environment, environment::body),
            Section::folded(|words| words.options, options::body),
            Section::open(|words| words.raw, raw::body),
        ],
    },
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
    let mut parts: Vec<Part> =
        (0..).zip(CHAPTERS).flat_map(|(chapter, of)| of.parts(chapter, &context)).collect();
    let left_out = fit(&mut parts, bytes_max.saturating_sub(text.len() + footer.len() + LEFT_OUT_BYTES));
    for (number, chapter) in CHAPTERS.iter().enumerate() {
        let mut sections = parts.iter().filter(|part| part.chapter == number).peekable();
        if sections.peek().is_some() {
            text += &chapter.heading(number, context.words);
            text.extend(sections.map(|part| part.text.as_str()));
        }
    }
    if !left_out.is_empty() {
        let id = escape::short(&report.identity.id).replace(|glyph: char| !glyph.is_ascii_alphanumeric(), "");
        let sentence = fill(context.words.left_out, &[&bytes_max.to_string(), &left_out.join(", "), &id]);
        text += &format!("\n> {sentence}\n");
    }
    text + &footer
}

/// A section as text.
struct Part {
    chapter: usize,
    title: &'static str,
    text: String,
    is_open: bool,
}

/// Leaves out what does not fit, and returns its titles: the largest folded section first, and open ones from the last on.
fn fit(parts: &mut Vec<Part>, bytes_max: usize) -> Vec<&'static str> {
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
    fn heading(&self, number: usize, words: &Words) -> String {
        let title = (self.title)(words);
        if number == 0 { format!("\n### {title}\n") } else { format!("\n### {number}. {title}\n") }
    }

    fn parts(&self, chapter: usize, context: &Context<'_>) -> Vec<Part> {
        let own = (self.title)(context.words);
        let part = |section: &Section| {
            let title = (section.title)(context.words);
            let text = section.render(context, title == own)?;
            Some(Part { chapter, title, text, is_open: section.is_open })
        };
        self.sections.iter().filter_map(part).collect()
    }
}

impl Section {
    /// With its title, unless that is the chapter's own.
    fn render(&self, context: &Context<'_>, is_titled: bool) -> Option<String> {
        let title = (self.title)(context.words);
        let Some(body) = (self.body)(context) else {
            let missing = (self.missing)(context)?;
            return Some(format!("\n**{title}.** {missing}\n"));
        };
        Some(match (self.is_open, is_titled) {
            (true, true) => format!("\n{body}"),
            (true, false) => format!("\n#### {title}\n\n{body}"),
            (false, _) => format!("\n<details><summary>{title}</summary>\n\n{body}\n</details>\n"),
        })
    }
}

fn footer(context: &Context<'_>) -> String {
    let version = escape::markdown_text(&context.report.identity.plimsoll_version);
    let by = if version.is_empty() { String::new() } else { format!(" · plimsoll {version}") };
    format!("{}{by}", context.words.precision_note)
}
