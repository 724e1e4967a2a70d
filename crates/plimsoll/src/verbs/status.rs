//! `plimsoll status`: prints the status of a running test.

use api::rest::{Status, StatusChange};
use runs::{Exit, Failure};
use session::Context;

/// Runs the subcommand.
///
/// # Errors
/// No test answers.
pub(crate) fn run(context: &Context) -> Result<Exit, Failure> {
    show(&context.client().status().map_err(|error| failure(&error))?);
    Ok(Exit::Ok)
}

/// Changes the test, and prints its new status.
///
/// # Errors
/// No test answers, or it refuses the change.
pub(super) fn change(change: &StatusChange, context: &Context) -> Result<Exit, Failure> {
    show(&context.client().change(change).map_err(|error| failure(&error))?);
    Ok(Exit::Ok)
}

/// Converts a client error to a failure of the subcommand.
pub(super) fn failure(error: &server::ClientError) -> Failure {
    Failure::new(Exit::Other, format!("failed to {error}"))
}

/// Prints the status as YAML, as k6 did before version 2.
fn show(status: &Status) {
    let Status { status, paused, vus, vus_max, stopped, running, tainted } = status;
    session::terminal::print(&format!(
        "status: {status}\npaused: \"{paused}\"\nvus: \"{vus}\"\nvus-max: \"{vus_max}\"\nstopped: {stopped}\n\
         running: {running}\ntainted: {tainted}\n"
    ));
}
