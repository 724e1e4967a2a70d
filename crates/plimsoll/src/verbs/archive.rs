//! `plimsoll archive`: packs a script with everything it needs into one file that k6 runs, too.

use std::path::Path;

use archive::Archive;
use runs::{Exit, Failure};
use session::Context;
use session::packing::archive_of;
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
    write(&archive, &flags.archive_out, context)?;
    Ok(Exit::Ok)
}

fn write(archive: &Archive, to: &Path, context: &Context) -> Result<(), Failure> {
    let failed = |error: &dyn std::fmt::Display| {
        Failure::new(Exit::Other, format!("failed to make {}: {error}", to.display()))
    };
    if to == Path::new("-") {
        return archive::write(archive, std::io::stdout().lock()).map_err(|error| failed(&error));
    }
    let mut partial = to.as_os_str().to_owned();
    partial.push(".part");
    let file = std::fs::File::create(&partial).map_err(|error| failed(&error))?;
    let written = archive::write(archive, std::io::BufWriter::new(file)).map_err(|error| failed(&error));
    let moved = written.and_then(|()| std::fs::rename(&partial, to).map_err(|error| failed(&error)));
    moved.inspect_err(|_| {
        // An incomplete file is useless.
        let _ = std::fs::remove_file(&partial);
    })?;
    if !context.is_quiet {
        let others = archive.files.len();
        context.logger.print(&format!("wrote {}, files beside the script: {others}\n", to.display()));
    }
    Ok(())
}
