//! `plimsoll types`: writes declarations for editors and TypeScript.

use runs::{Exit, Failure};
use session::Context;

use crate::flags::TypesFlags;

/// Runs the subcommand.
///
/// # Errors
/// A file cannot be written.
pub(crate) fn run(flags: &TypesFlags, context: &Context) -> Result<Exit, Failure> {
    context.logger.print(&session::typings::write(&flags.folder, flags.force)?);
    Ok(Exit::Ok)
}
