//! `plimsoll archive`: packs a script with everything it needs into one file that k6 runs, too.

use runs::{Exit, Failure};
use session::Context;
use session::packing::{self, archive_of};
use session::test::Script;

use crate::flags::ArchiveFlags;
use crate::settings;

/// Runs the subcommand.
///
/// # Errors
/// The script cannot be loaded, its options are invalid, or the archive cannot be written.
pub(crate) fn run(flags: &ArchiveFlags, context: &Context) -> Result<Exit, Failure> {
    settings::refuse_kinds(&flags.script, context)?;
    let compat = settings::compat(flags.script.compat, context)?;
    let source = settings::source(&flags.script, context)?;
    let env = source.env(settings::script_env(&flags.script, context, false)?);
    let script = Script::load(source, context, env.clone())?;
    let options = script.merged_options(context, &flags.options.to_cli_options(), compat)?;
    script.plan(context, options.clone(), compat)?;
    let archive = archive_of(&script, options, (!flags.exclude_env_vars).then_some(env))?;
    packing::write(&archive, &flags.archive_out, context)?;
    Ok(Exit::Ok)
}
