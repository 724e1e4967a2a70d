//! `plimsoll resume`: starts a test that waits, or goes on with one that was paused.

use api::rest::StatusChange;
use runs::{Exit, Failure};

use session::Context;

/// Runs the verb.
///
/// # Errors
/// No test answers, or it cannot do that now.
pub(crate) fn run(context: &Context) -> Result<Exit, Failure> {
    super::status::change(&StatusChange { paused: Some(false), ..StatusChange::default() }, context)
}
