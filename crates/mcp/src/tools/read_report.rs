//! `read_report`: the whole report on a stored run.

use serde_json::Value;

use super::{Arguments, Kind, Outcome, Tool, Work, document, optional};
use crate::condense::{self, DOCUMENT_BYTES_MAX};

pub(super) const TOOL: Tool = Tool {
    name: "read_report",
    description: "Read the whole report on a stored run: as Markdown for people, or as JSON (docs/format/report.schema.json).",
    is_reading: true,
    arguments: &[
        optional("run", Kind::Text, "Run: @last (default), @prev, or an id of list_runs"),
        optional("format", Kind::Text, "md (default) or json"),
        optional("lang", Kind::Text, "Language of Markdown: en (default) or ko"),
    ],
    call,
};

fn call(work: &Work, arguments: &Arguments) -> Result<Outcome, String> {
    let run = arguments.run("run", "@last")?;
    let lang = one_of(arguments, "lang", &["en", "ko"])?;
    // The log has what the script logged.
    let hidden = (!work.program.has_console).then_some("--no-log");
    match one_of(arguments, "format", &["md", "json"])? {
        "json" => {
            let words = ["report", &run, "--format", "json"];
            let report: Value = work.document(&words.into_iter().chain(hidden).collect::<Vec<_>>())?;
            document(condense::head(&condense::summary(&report)), report)
        }
        format => {
            let words = ["report", &run, "--format", format, "--lang", lang];
            let text = work.text(&words.into_iter().chain(hidden).collect::<Vec<_>>())?;
            if text.len() > DOCUMENT_BYTES_MAX {
                let bytes = text.len();
                return Err(format!("the report has {bytes} bytes, and the limit is {DOCUMENT_BYTES_MAX}"));
            }
            Ok(Outcome::Text(text))
        }
    }
}

/// An argument that is one of these; the first where it is not given.
fn one_of<'a>(arguments: &Arguments, name: &str, known: &[&'a str]) -> Result<&'a str, String> {
    let Some(given) = arguments.text(name) else { return Ok(known[0]) };
    let found = known.iter().find(|one| **one == given);
    found.copied().ok_or_else(|| format!("the argument {name:?} must be {}", known.join(" or ")))
}
