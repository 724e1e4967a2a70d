//! Single requests: the slowest, and those that failed.

use analysis::traces::{Attribution, Component};
use model::ExemplarKind;

use crate::document::ExemplarEntry;
use crate::escape::markdown_code;
use crate::number;
use crate::summary::{MetricSummary, Values, statistic_text};

use super::Context;
use super::table::{Column, Table};

pub(super) fn body(context: &Context<'_>) -> Option<String> {
    let lang = context.lang;
    let mut table = Table::new(&[
        Column::Left(""),
        Column::Right(lang.at()),
        Column::Right(lang.duration()),
        Column::Left(lang.endpoint()),
        Column::Right(lang.status()),
        Column::Left(lang.message()),
        Column::Left(lang.trace()),
    ]);
    context.report.exemplars.iter().for_each(|one| table.row(row(one, context)));
    (!table.is_empty()).then(|| table.render(lang, context.table_bytes))
}

fn row(one: &ExemplarEntry, context: &Context<'_>) -> Vec<String> {
    let lang = context.lang;
    let kind = match one.kind {
        ExemplarKind::Slowest => lang.slowest(),
        ExemplarKind::Failed => lang.failed(),
        ExemplarKind::Bucket => lang.bucket(),
    };
    let words_of = |text: &str| if text.is_empty() { String::new() } else { markdown_code(text) };
    vec![
        kind.to_owned(),
        number::duration(one.at.as_secs_f64() * 1000.0, None),
        duration(one, context),
        markdown_code(format!("{} {}", one.method, one.url).trim()),
        words_of(&one.status),
        words_of(&one.error),
        one.trace_id.map(|id| trace(id, one.whole.as_ref())).unwrap_or_default(),
    ]
}

/// A trace's number, and whose the time of its request was.
fn trace(id: u128, whole: Option<&Attribution>) -> String {
    let part = |(part, ns): (Component, u64)| {
        format!("{} {}", markdown_code(part.as_str()), number::duration(ns as f64 / 1e6, None))
    };
    let parts: Vec<String> = whole.into_iter().flat_map(Attribution::parts).map(part).collect();
    if parts.is_empty() { format!("`{id:032x}`") } else { format!("`{id:032x}`: {}", parts.join(", ")) }
}

fn duration(one: &ExemplarEntry, context: &Context<'_>) -> String {
    let metric = MetricSummary::duration(Values::NotApplicable(""));
    statistic_text(one.duration, "max", &metric, &context.report.number_options())
}
