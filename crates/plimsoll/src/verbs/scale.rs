//! `plimsoll scale`: changes the number of VUs of a running test.

use api::rest::StatusChange;
use runs::{Exit, Failure};
use session::Context;

use crate::flags::ScaleFlags;

/// Runs the subcommand.
///
/// # Errors
/// No test answers, or its VUs are not externally controlled.
pub(crate) fn run(flags: &ScaleFlags, context: &Context) -> Result<Exit, Failure> {
    let (vus, vus_max) = (flags.vus.map(i64::from), flags.max.map(i64::from));
    super::status::change(&StatusChange { vus, vus_max, ..StatusChange::default() }, context)
}
