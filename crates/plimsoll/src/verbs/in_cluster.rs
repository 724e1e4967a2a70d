//! `--hub-in-cluster`: the same command in a pod, with the packed test.

use clap::CommandFactory;
use plan::CliOptions;
use runs::{Exit, Failure};
use session::Context;
use session::packing::{archive_of, bytes_of};
use session::test::Script;

use crate::flags::{AgentsFlags, Cli, ScriptFlags};
use crate::settings;

/// Runs the command in a pod if its flags ask for that.
///
/// # Errors
/// The test cannot be packed, or the command cannot be run there.
pub(crate) fn run(
    flags: &AgentsFlags,
    script: &ScriptFlags,
    context: &Context,
) -> Result<Option<Exit>, Failure> {
    let Some(hub) = flags.hub_in_cluster()? else { return Ok(None) };
    settings::refuse_kinds(script, context)?;
    if script.allow_exec {
        let text =
            "failed to use --allow-exec with --hub-in-cluster: the image has no programs; leave it out";
        return Err(Failure::new(Exit::InvalidConfig, text));
    }
    let compat = settings::compat(script.compat, context)?;
    let source = settings::source(script, context)?;
    let env = source.env(settings::script_env(script, context, true)?);
    let loaded = Script::load(source, context, env)?;
    // The flags go with it, and are applied there.
    let options = loaded.merged_options(context, &CliOptions::default(), compat)?;
    let archive = bytes_of(&archive_of(&loaded, options, None)?)?;
    agents::run_in_cluster(hub, archive, Cli::command(), context).map(Some)
}
