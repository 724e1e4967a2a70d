//! The thresholds with what was observed, the crossed ones first.

use crate::document::Judged;
use crate::escape::markdown_code;

use super::Context;
use super::table::{Column, Table};

pub(super) fn body(context: &Context<'_>) -> Option<String> {
    let lang = context.lang;
    let mut judged = context.report.judged();
    if judged.is_empty() {
        let is_step = context.report.identity.step.is_some();
        let none = if is_step { lang.thresholds_of_step() } else { lang.no_thresholds_defined() };
        return Some(format!("{none}\n"));
    }
    judged.sort_by_key(|one| one.threshold.ok);
    let mut table = Table::new(&[
        Column::Left(""),
        Column::Left(lang.metric()),
        Column::Left(lang.condition()),
        Column::Right(lang.observed()),
        Column::Right(lang.limit()),
        Column::Right(lang.margin()),
    ]);
    judged.iter().for_each(|one| table.row(row(one)));
    Some(table.render(lang, context.table_bytes))
}

fn row(one: &Judged<'_>) -> Vec<String> {
    let mark = match (one.threshold.ok, one.is_unmeasured()) {
        (false, _) => "❌",
        (true, true) => "⚠️",
        (true, false) => "✅",
    };
    vec![
        mark.to_owned(),
        markdown_code(&one.metric.name),
        markdown_code(&one.threshold.source),
        one.observed_text(),
        one.limit_text(),
        one.margin_text().unwrap_or_else(|| "–".to_owned()),
    ]
}
