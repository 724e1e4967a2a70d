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
    if flags.text.trim().is_empty() || flags.text.len() > NOTE_BYTES_MAX {
        let text = format!("failed to write the note: it needs a text of at most {NOTE_BYTES_MAX} bytes");
        return Err(Failure::new(Exit::Other, text));
    }
    let catalogue = context.catalogue()?;
    let path = catalogue.find(&flags.run).map_err(|error| runs::failed(&error))?;
    let now = context.epoch.wall_unix_ns(SystemClock::now());
    runfile::add_note(&path, now, &flags.text).map_err(|error| runs::failed(&error))?;
    catalogue.keep(&path).map_err(|error| runs::failed(&error))?;
    Ok(Exit::Ok)
}
