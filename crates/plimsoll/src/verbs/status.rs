//! `plimsoll status`: how a running test stands.

use api::rest::{Status, StatusChange};
use runs::{Exit, Failure};

use session::Context;

/// Runs the verb.
///
/// # Errors
/// No test answers.
pub(crate) fn run(context: &Context) -> Result<Exit, Failure> {
    show(&context.client().status().map_err(|error| failure(&error))?);
    Ok(Exit::Ok)
}

/// Changes the test, and shows how it stands then.
///
/// # Errors
/// No test answers, or it does not do that.
pub(super) fn change(change: &StatusChange, context: &Context) -> Result<Exit, Failure> {
    show(&context.client().change(change).map_err(|error| failure(&error))?);
    Ok(Exit::Ok)
}

/// What the client says, as a failure of the verb.
pub(super) fn failure(error: &server::ClientError) -> Failure {
    Failure::new(Exit::Other, format!("failed to {error}"))
}

/// As k6 before version 2 printed it: YAML.
fn show(status: &Status) {
    let Status { status, paused, vus, vus_max, stopped, running, tainted } = status;
    session::terminal::print(&format!(
        "status: {status}\npaused: \"{paused}\"\nvus: \"{vus}\"\nvus-max: \"{vus_max}\"\nstopped: {stopped}\n\
         running: {running}\ntainted: {tainted}\n"
    ));
}
