//! `plimsoll pause`: starts no further iterations of a running test, if its executors allow that.

use api::rest::StatusChange;
use runs::{Exit, Failure};
use session::Context;

/// Runs the subcommand.
///
/// # Errors
/// No test answers, or it cannot be paused now.
pub(crate) fn run(context: &Context) -> Result<Exit, Failure> {
    super::status::change(&StatusChange { paused: Some(true), ..StatusChange::default() }, context)
}
