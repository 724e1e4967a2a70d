//! `plimsoll report`: a stored run for people, programs and continuous integration.

use report::Lang;

use crate::common::Common;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::flags::{LangFlag, ReportFlags};
use crate::stored::{self, Part};

/// Runs the verb. The exit code is about the report, not about the run.
///
/// # Errors
/// There is no such run, it cannot be read, or the report cannot be written.
pub(crate) fn run(flags: &ReportFlags, common: &Common) -> Result<Exit, Failure> {
    let part = flags.window.as_deref().map(Part::parse).transpose()?;
    let path = common.catalogue()?.find(&flags.run).map_err(|error| stored::failed(&error))?;
    let reader = stored::open(&path)?;
    let range = part.map(|part| part.range(&reader)).transpose()?;
    let (window, elapsed) = match &range {
        Some(range) => stored::part(&reader, range.clone())?,
        None => stored::whole(&reader)?,
    };
    let report = stored::document(&reader, &window, elapsed, range)?;
    let text = stored::render(&report, flags.format, lang(flags.lang));
    match &flags.output {
        None => crate::print(&text),
        Some(path) => std::fs::write(path, text).map_err(|error| {
            Failure::new(Exit::Other, format!("failed to write the report to {}: {error}", path.display()))
        })?,
    }
    Ok(Exit::Ok)
}

fn lang(flag: LangFlag) -> Lang {
    match flag {
        LangFlag::En => Lang::En,
        LangFlag::Ko => Lang::Ko,
    }
}
