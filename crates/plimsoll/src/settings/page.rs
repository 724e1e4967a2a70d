//! Settings of a run's live page.

use std::io::IsTerminal;

use runs::Failure;
use session::Context;
use session::page::PageSettings;

use crate::flags::RunFlags;

/// Resolves flags and variables. By default there is no page without a terminal, in continuous integration, or with
/// `--quiet`; the page reads the run's file, so a run that is not stored has none.
///
/// # Errors
/// A variable has no boolean value.
pub(crate) fn page_settings(
    flags: &RunFlags,
    context: &Context,
    is_stored: bool,
) -> Result<PageSettings, Failure> {
    let refused = flags.no_page.or(context.env.switch("NO_PAGE")?);
    let is_ci = context.env.get("CI").is_some_and(|value| !value.is_empty() && value != "false");
    let is_seen = std::io::stderr().is_terminal() && !is_ci && !context.is_quiet;
    Ok(PageSettings { is_wanted: is_stored && refused.map_or(is_seen, |refused| !refused) })
}
