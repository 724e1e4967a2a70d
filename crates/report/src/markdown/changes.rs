//! The comparison with the previous run of the same script.

use std::borrow::Cow;

use crate::comparison;
use crate::escape::markdown_prose;

use super::Context;

pub(super) fn body(context: &Context<'_>) -> Option<String> {
    let previous = context.report.previous.as_ref()?;
    Some(comparison::section(previous, context.lang, context.table_bytes))
}

/// Returns the reason why there is no comparison.
pub(super) fn missing(context: &Context<'_>) -> Cow<'static, str> {
    match &context.report.not_compared {
        Some(why) => context.lang.changes_failed(markdown_prose(why)).into(),
        None => context.lang.missing_changes().into(),
    }
}
