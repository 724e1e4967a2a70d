//! `plimsoll host-agent`: serves this machine's kernel metrics to a run on another machine.

use evidence::sources;
use runs::{Exit, Failure};
use server::Server;
use session::Context;

use crate::flags::HostAgentFlags;

/// Default listening address.
const ADDRESS_DEFAULT: &str = "localhost:6567";

/// Runs the subcommand until a signal stops it.
///
/// # Errors
/// This machine's kernel does not provide the metrics, or the address is unavailable.
pub(crate) fn run(flags: &HostAgentFlags, context: &Context) -> Result<Exit, Failure> {
    if sources::machine().is_none() {
        return Err(Failure::new(Exit::Other, "failed to read this machine: /proc/stat cannot be read"));
    }
    let token = flags.token.as_deref().filter(|token| !token.is_empty()).or(context.api_token());
    let address = context.address().unwrap_or(ADDRESS_DEFAULT);
    let server = Server::start_machine(address, token, sources::MACHINE_PATH, sources::machine)
        .map_err(|error| Failure::new(Exit::CannotServe, format!("failed to {error}")))?;
    session::terminal::print(&format!("host: http://{}\n", server.address()));
    session::signals::wait();
    Ok(Exit::Ok)
}
