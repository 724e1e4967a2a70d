//! The comparison with the previous run of the same script.

use crate::comparison;

use super::Context;

pub(super) fn body(context: &Context<'_>) -> Option<String> {
    let previous = context.report.previous.as_ref()?;
    Some(comparison::section(previous, context.lang, context.table_bytes))
}
