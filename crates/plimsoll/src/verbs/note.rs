//! `plimsoll note`: adds a note to a stored run.

use model::SystemClock;
use runs::{Exit, Failure};
use session::Context;

use crate::flags::NoteFlags;

/// Maximum length of a note, bytes.
const NOTE_BYTES_MAX: usize = 64 << 10;

/// Runs the subcommand.
///
/// # Errors
/// The run does not exist or is still in progress, or the note cannot be written.
pub(crate) fn run(flags: &NoteFlags, context: &Context) -> Result<Exit, Failure> {
    let fail = |why: &str| Failure::new(Exit::Other, format!("failed to write the note: {why}"));
    let (run, note) = match flags.words.as_slice() {
        [run, note] => (run.as_str(), note.as_str()),
        [run] if run.starts_with('@') => {
            return Err(fail(&format!("the text for {run} is missing; write plimsoll note {run} 'TEXT'")));
        }
        words => ("@last", words.first().map_or("", String::as_str)),
    };
    if note.trim().is_empty() || note.len() > NOTE_BYTES_MAX {
        return Err(fail(&format!("it needs a text of at most {NOTE_BYTES_MAX} bytes")));
    }
    let catalogue = context.catalogue()?;
    let path = catalogue.find(run).map_err(|error| runs::failed(&error))?;
    let now = context.epoch.wall_unix_ns(SystemClock::now());
    runfile::add_note(&path, now, note).map_err(|error| runs::failed(&error))?;
    catalogue.keep(&path).map_err(|error| runs::failed(&error))?;
    session::terminal::print(&format!("note added to {}\n", path.display()));
    Ok(Exit::Ok)
}
