//! Host and environment.

use crate::escape::markdown_code;

use super::Context;
use super::table::{Column, Table};

pub(super) fn body(context: &Context<'_>) -> Option<String> {
    let words = context.words;
    let mut table = Table::new(&[Column::Left(words.name), Column::Left(words.value)]);
    for (name, value) in context.report.facts(words) {
        table.row(vec![markdown_code(&name), markdown_code(&value)]);
    }
    (!table.is_empty()).then(|| table.render(words, context.table_bytes))
}
