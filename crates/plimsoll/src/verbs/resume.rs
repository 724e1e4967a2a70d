//! `plimsoll resume`: starts a test that waits, or resumes one that was paused.

use api::rest::StatusChange;
use runs::{Exit, Failure};
use session::Context;

/// Runs the subcommand.
///
/// # Errors
/// No test answers, or it cannot be resumed now.
pub(crate) fn run(context: &Context) -> Result<Exit, Failure> {
    super::status::change(&StatusChange { paused: Some(false), ..StatusChange::default() }, context)
}
