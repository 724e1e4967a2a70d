//! Where all of the numbers are.

use crate::escape;

use super::Context;

pub(super) fn body(context: &Context<'_>) -> Option<String> {
    // Only what no shell could take for anything else, since the line is there to be copied.
    let id =
        escape::short(&context.report.identity.id).replace(|glyph: char| !glyph.is_ascii_alphanumeric(), "");
    (!id.is_empty()).then(|| format!("{}\n", context.lang.raw_data_commands(id)))
}
