//! `plimsoll pause`: no further iterations of a running test, where its executors allow that.

use api::rest::StatusChange;
use runs::{Exit, Failure};

use session::Context;

/// Runs the verb.
///
/// # Errors
/// No test answers, or it cannot do that now.
pub(crate) fn run(context: &Context) -> Result<Exit, Failure> {
    super::status::change(&StatusChange { paused: Some(true), ..StatusChange::default() }, context)
}
