//! `plimsoll agent`: runs a part of a test for a hub.

use runs::{Exit, Failure};
use session::Context;
use session::agent::AgentOptions;

use crate::AgentFlags;

/// Runs the subcommand until the hub's run is over.
///
/// # Errors
/// A flag is invalid, the hub refuses the agent, or is lost.
pub fn run(flags: &AgentFlags, context: &Context) -> Result<Exit, Failure> {
    let options =
        AgentOptions::resolve(&flags.hub, flags.token_file.as_deref(), flags.name.clone(), context)?;
    session::agent::run(options, context)
}
