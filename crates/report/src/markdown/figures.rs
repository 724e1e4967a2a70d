//! Figures that another tool stated, or that follow from its rows.

use crate::escape::{markdown_code, markdown_text};

use super::Context;
use super::table::{Column, Table};

pub(super) fn body(context: &Context<'_>) -> Option<String> {
    let lang = context.lang;
    let imported = context.report.imported.as_ref()?;
    let columns = [Column::Left(lang.name()), Column::Right(lang.value()), Column::Left(lang.reading())];
    let mut table = Table::new(&columns);
    for figure in &imported.figures {
        table.row(vec![markdown_code(&figure.name), figure.text(), markdown_text(&figure.note)]);
    }
    (!table.is_empty()).then(|| table.render(lang, context.table_bytes))
}
