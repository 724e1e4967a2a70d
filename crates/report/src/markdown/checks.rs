//! Checks: each that did not always hold, and how many did.

use crate::escape::markdown_code;
use crate::summary::{CheckSummary, share};

use super::Context;
use super::table::{Column, Table};

pub(super) fn body(context: &Context<'_>) -> Option<String> {
    let (checks, lang) = (&context.report.summary.checks, context.lang);
    if checks.is_empty() {
        return None;
    }
    let calls: u64 =
        checks.iter().map(|check| check.passes.saturating_add(check.fails)).fold(0, u64::saturating_add);
    if checks.iter().all(|check| check.fails == 0) {
        let counts = [checks.len().to_string(), calls.to_string()];
        return Some(format!("{}\n", lang.all_checks_passed(&counts[0], &counts[1])));
    }
    let mut sorted: Vec<&CheckSummary> = checks.iter().collect();
    sorted.sort_by_key(|check| std::cmp::Reverse(check.fails));
    Some(table(&sorted, context))
}

pub(super) fn table(checks: &[&CheckSummary], context: &Context<'_>) -> String {
    let lang = context.lang;
    let mut table = Table::new(&[
        Column::Left(""),
        Column::Left(lang.name()),
        Column::Right(lang.succeeded()),
        Column::Right(lang.failed()),
        Column::Right("%"),
    ]);
    for check in checks {
        let mark = if check.fails == 0 { "✅" } else { "❌" };
        table.row(vec![
            mark.to_owned(),
            markdown_code(&check.name),
            check.passes.to_string(),
            check.fails.to_string(),
            share(check.passes, check.passes.saturating_add(check.fails)),
        ]);
    }
    table.render(lang, context.table_bytes)
}
