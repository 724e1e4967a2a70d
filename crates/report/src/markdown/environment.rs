//! Host and environment.

use crate::escape::markdown_code;

use super::Context;
use super::table::{Column, Table};

pub(super) fn body(context: &Context<'_>) -> Option<String> {
    let lang = context.lang;
    let mut table = Table::new(&[Column::Left(lang.name()), Column::Left(lang.value())]);
    for (name, value) in context.report.facts(lang) {
        table.row(vec![markdown_code(&name), markdown_code(&value)]);
    }
    (!table.is_empty()).then(|| table.render(lang, context.table_bytes))
}
