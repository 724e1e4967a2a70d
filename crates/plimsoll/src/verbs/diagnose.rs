//! `plimsoll diagnose`: what limits the target, how that is known, and what would prove it wrong.

use std::io::IsTerminal;

use analysis::diagnosis::diagnose;
use report::diagnosis::{Clock, document, text};
use runfile::Reader;

use crate::common::Common;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::flags::DiagnoseFlags;
use crate::logger;
use crate::stored::{self, diagnosis};

/// Runs that are looked at together: the levels of a sweep.
const RUNS_MAX: usize = 50;

/// Runs the verb.
///
/// # Errors
/// There is no such run, or it cannot be read.
pub(crate) fn run(flags: &DiagnoseFlags, common: &Common) -> Result<Exit, Failure> {
    if flags.levels.len() > RUNS_MAX {
        let text = format!(
            "failed to diagnose {} runs: at most {RUNS_MAX} are looked at together",
            flags.levels.len()
        );
        return Err(Failure::new(Exit::Other, text));
    }
    let catalogue = common.catalogue()?;
    let open = |run: &String| {
        let path = catalogue.find(run).map_err(|error| stored::failed(&error))?;
        stored::open(&path)
    };
    let readers = flags.levels.iter().map(open).collect::<Result<Vec<Reader>, Failure>>()?;
    let case = diagnosis::case(&readers)?;
    let clocks: Vec<Clock> = case
        .levels
        .iter()
        .filter_map(|level| {
            let reader = readers.iter().find(|reader| reader.header().run_id == level.id)?;
            Some(diagnosis::clock(reader, level))
        })
        .collect();
    let told = document(&diagnose(&case), &clocks);
    if flags.json {
        crate::print(&report::diagnosis::json(&told));
        return Ok(Exit::Ok);
    }
    let style = logger::style(common.may_colour && std::io::stdout().is_terminal());
    crate::print(&text(&told, flags.all, style));
    Ok(Exit::Ok)
}
