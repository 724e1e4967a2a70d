//! `plimsoll runs prune`: deletes old runs after confirmation.

use std::io::{BufRead, IsTerminal};

use catalogue::prune::{self, Policy};
use catalogue::{Catalogue, Entry};
use model::SystemClock;
use runfile::{Reader, State};
use runs::listing::{counted, size};
use runs::{Exit, Failure};
use session::Context;

use crate::flags::PruneFlags;

/// Runs the subcommand.
///
/// # Errors
/// No limit is set, the deletion was not confirmed, or a run cannot be deleted.
pub(crate) fn run(flags: &PruneFlags, context: &Context) -> Result<Exit, Failure> {
    let policy = policy(flags)?;
    let catalogue = context.catalogue()?;
    let entries = catalogue.list().map_err(|error| runs::failed(&error))?;
    let now_unix_s = context.epoch.wall_unix_ns(SystemClock::now()) / 1_000_000_000;
    let mut doomed = prune::doomed(&entries, &policy, now_unix_s);
    doomed.retain(|entry| !is_live(&catalogue, entry));
    if doomed.is_empty() {
        session::terminal::print(&format!(
            "No runs to delete among {} in {}\n",
            counted(entries.len(), "run"),
            catalogue.place()
        ));
        return Ok(Exit::Ok);
    }
    session::terminal::print(&describe(&doomed, &catalogue, flags.dry_run));
    if flags.dry_run {
        return Ok(Exit::Ok);
    }
    if !flags.yes && !is_confirmed()? {
        session::terminal::print("No runs deleted\n");
        return Ok(Exit::Ok);
    }
    for entry in &doomed {
        catalogue.remove(entry).map_err(|error| runs::failed(&error))?;
    }
    session::terminal::print(&format!("deleted {}\n", counted(doomed.len(), "run")));
    Ok(Exit::Ok)
}

fn policy(flags: &PruneFlags) -> Result<Policy, Failure> {
    let fail = |text: String| Failure::new(Exit::Other, text);
    let age = |text: &String| runs::parse_length("--older-than", text, Exit::Other);
    let bytes = |text: &String| {
        let why = || {
            fail(format!(
                "failed to read --max-size {text:?}: write a number with its unit, such as 500MB or 2GiB"
            ))
        };
        prune::parse_size(text).ok_or_else(why)
    };
    let policy = Policy {
        age_max: flags.older_than.as_ref().map(age).transpose()?,
        runs_max: flags.keep,
        bytes_max: flags.max_size.as_ref().map(bytes).transpose()?,
    };
    if policy == Policy::default() {
        return Err(fail("no runs selected: set --older-than, --keep or --max-size".into()));
    }
    Ok(policy)
}

/// Returns true if a run is in progress, which can only be on this machine; unreadable files are not.
fn is_live(catalogue: &Catalogue, entry: &Entry) -> bool {
    let reader = catalogue.local(entry).and_then(|path| Reader::open(&path).ok());
    reader.is_some_and(|reader| reader.state() == State::Live)
}

fn describe(doomed: &[Entry], catalogue: &Catalogue, is_rehearsal: bool) -> String {
    let line = |entry: &Entry| format!("  {}  {}\n", entry.name, size(entry.bytes));
    let bytes = doomed.iter().map(|entry| entry.bytes).sum();
    let would = if is_rehearsal { "would delete" } else { "to delete" };
    let lines: String = doomed.iter().map(line).collect();
    format!("{would} {}, {}, in {}:\n{lines}", counted(doomed.len(), "run"), size(bytes), catalogue.place())
}

fn is_confirmed() -> Result<bool, Failure> {
    if !std::io::stdin().is_terminal() {
        let text = "failed to ask for confirmation: standard input is not a terminal; use --yes or --dry-run";
        return Err(Failure::new(Exit::Other, text));
    }
    session::terminal::print("Delete these runs permanently? [y/N] ");
    let mut answer = String::new();
    // An answer that cannot be read means no.
    let _ = std::io::stdin().lock().read_line(&mut answer);
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
