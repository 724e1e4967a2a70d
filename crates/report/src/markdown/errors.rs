//! Distinct errors, the most frequent first.

use crate::document::ErrorEntry;
use crate::escape::markdown_code;

use super::Context;
use super::table::{Column, Table};

pub(super) fn body(context: &Context<'_>) -> Option<String> {
    let (errors, lang) = (&context.report.errors, context.lang);
    if errors.distinct.is_empty() && errors.beyond == 0 {
        return None;
    }
    let mut distinct: Vec<&ErrorEntry> = errors.distinct.iter().collect();
    distinct.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.message.cmp(&b.message)));
    let mut table = Table::new(&[
        Column::Right(lang.count()),
        Column::Right(lang.error_code()),
        Column::Left(lang.message()),
        Column::Left(lang.example()),
    ]);
    for error in distinct {
        let code = if error.code == 0 { String::new() } else { error.code.to_string() };
        let example = first_line(&error.example);
        table.row(vec![error.count.to_string(), code, markdown_code(&error.message), example]);
    }
    let mut text = if table.is_empty() { String::new() } else { table.render(lang, context.table_bytes) };
    if errors.beyond > 0 {
        text += &format!("\n{}\n", lang.errors_beyond(errors.beyond));
    }
    Some(text)
}

/// Returns the example without its stack trace, which does not fit into a table.
fn first_line(example: &str) -> String {
    example.lines().next().map(markdown_code).unwrap_or_default()
}
