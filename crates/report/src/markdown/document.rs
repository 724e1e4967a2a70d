//! The report as a document of blocks, which the page shows and prints.
//!
//! The sections are written once, as Markdown, and read back into blocks by [`super::blocks`]: so the page, the printed report and
//! the Markdown report have the same sentences and the same numbers. Blocks hold texts and no markup, and the page inserts texts
//! as text nodes: names from scripts and servers need no second escaping, and the page's policy against foreign scripts stays as
//! strict as it is.

use std::collections::BTreeMap;

use api::page::{ReportChapter, ReportDocument, ReportObjective, ReportSection};
use tally::Selector;

use crate::{Lang, RunReport, headline};

use super::blocks::blocks;
use super::{CHAPTERS, Chapter, Context, fit, footer, head, left_out_note};

/// Maximum Markdown bytes behind the sections of a document: a report of about a hundred printed pages.
const DOCUMENT_BYTES_MAX: usize = 400_000;

/// Returns the report as blocks.
pub fn document(report: &RunReport, lang: Lang) -> ReportDocument {
    // Tables are cut where those of the Markdown report are, so that both show the same rows.
    let context = Context::new(report, lang, super::BYTES_MAX);
    let mut parts: Vec<_> = (0..).zip(CHAPTERS).flat_map(|(at, of)| of.parts(at, &context)).collect();
    let left_out = fit(&mut parts, DOCUMENT_BYTES_MAX);
    let chapter = |(number, chapter): (usize, &Chapter)| {
        let title = (chapter.title)(lang);
        let own = parts.iter().filter(|part| part.chapter == number);
        let sections = own.map(|part| ReportSection {
            title: if part.title == title { String::new() } else { part.title.to_owned() },
            is_detail: !part.is_open,
            blocks: blocks(&part.body),
        });
        ReportChapter { number, title: title.to_owned(), sections: sections.collect() }
    };
    let chapters = CHAPTERS.iter().enumerate().map(chapter).filter(|chapter| !chapter.sections.is_empty());
    let note = left_out_note(&left_out, DOCUMENT_BYTES_MAX, &context);
    ReportDocument {
        objective: objective(report),
        head: blocks(&head::render(&context)),
        chapters: chapters.collect(),
        foot: blocks(&format!("{note}\n{}\n", footer(&context))),
    }
}

/// Returns the metric of the objective on a time that failed first, or is closest to its limit.
fn objective(report: &RunReport) -> Option<ReportObjective> {
    let name = headline::timed(report)?;
    let selector = Selector::parse(&name).ok()?;
    let tags: BTreeMap<&str, &str> =
        selector.filter.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let tags = if tags.is_empty() { String::new() } else { serde_json::json!(tags).to_string() };
    Some(ReportObjective { metric: selector.metric.to_string(), tags })
}
