//! Every metric with every statistic.

use crate::escape::markdown_code;
use crate::summary::{Layout, MetricSummary, Options, Values, is_shown, note, sorted, statistic_text};

use super::table::{Column, Table};
use super::{Context, numbers};

pub(super) fn body(context: &Context<'_>) -> Option<String> {
    tables(&shown(context), context)
}

/// The metrics of the terminal's full layout, in its order.
pub(super) fn shown<'a>(context: &Context<'a>) -> Vec<&'a MetricSummary> {
    select(&context.report.summary.metrics, context)
}

/// The same of one part of the run.
pub(super) fn select<'a>(metrics: &'a [MetricSummary], context: &Context<'_>) -> Vec<&'a MetricSummary> {
    let options = Options { layout: Layout::Full, ..context.report.number_options() };
    let all = sorted(metrics);
    all.iter().copied().filter(|metric| is_shown(metric, &all, &options)).collect()
}

/// Times and other values, each in a table of their own.
pub(super) fn tables(metrics: &[&MetricSummary], context: &Context<'_>) -> Option<String> {
    let texts: Vec<String> =
        [plain(metrics, context), trends(metrics, context)].into_iter().flatten().collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

fn plain(metrics: &[&MetricSummary], context: &Context<'_>) -> Option<String> {
    let lang = context.lang;
    let mut table =
        Table::new(&[Column::Left(lang.metric()), Column::Right(lang.value()), Column::Right("")]);
    for metric in metrics {
        let Some((value, beside)) = numbers::value(metric, context) else { continue };
        table.row(vec![markdown_code(&metric.name), value, beside]);
    }
    (!table.is_empty()).then(|| table.render(lang, context.table_bytes))
}

/// Those of the metrics that are trends, a column for each statistic.
pub(super) fn trends(metrics: &[&MetricSummary], context: &Context<'_>) -> Option<String> {
    let lang = context.lang;
    let rows = metrics.iter().map(|metric| (markdown_code(&metric.name), vec![], *metric));
    trend_table(lang.metric(), &[], rows.collect(), context)
}

/// A row of a trend, after cells of its own: the name, further cells, the trend.
pub(super) type TrendRow<'a> = (String, Vec<String>, &'a MetricSummary);

/// Trends with further columns between name and statistics. What has no values says so in place of the first statistic.
pub(super) fn trend_table(
    title: &'static str,
    between: &[&'static str],
    rows: Vec<TrendRow<'_>>,
    context: &Context<'_>,
) -> Option<String> {
    let lang = context.lang;
    let stats = statistics(&rows);
    let mut table = Table::new(&[Column::Left(title)]);
    between.iter().for_each(|title| table.number_column((*title).to_owned()));
    stats.iter().for_each(|name| table.number_column(markdown_code(name)));
    if stats.is_empty() {
        table.number_column(lang.value().to_owned());
    }
    table.word_column(lang.precision());
    for (name, cells, metric) in rows {
        let Some((values, precision)) = trend_cells(metric, &stats, context) else { continue };
        table.row([vec![name], cells, values, vec![precision]].concat());
    }
    (!table.is_empty()).then(|| table.render(lang, context.table_bytes))
}

/// Every statistic that a row has, in order of first sight.
fn statistics<'a>(rows: &[TrendRow<'a>]) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for (_, _, metric) in rows {
        let Values::Trend { stats, .. } = &metric.values else { continue };
        for (name, _) in stats {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
    }
    names
}

/// A cell for each of the named statistics, and what they are worth.
fn trend_cells(
    metric: &MetricSummary,
    names: &[&str],
    context: &Context<'_>,
) -> Option<(Vec<String>, String)> {
    match &metric.values {
        Values::Trend { stats, .. } => {
            let options = context.report.number_options();
            let cell = |name: &&str| {
                let found = stats.iter().find(|(known, _)| known == name);
                found
                    .map(|(_, statistic)| statistic_text(*statistic, name, metric, &options))
                    .unwrap_or_default()
            };
            Some((names.iter().map(cell).collect(), precision(metric, context)))
        }
        Values::NotApplicable(why) => {
            let mut cells = vec![String::new(); names.len().max(1)];
            cells[0] = format!("n/a: {why}");
            Some((cells, String::new()))
        }
        _ => None,
    }
}

/// The precision of the numbers, in the report's language; empty where the terminal shows none.
fn precision(metric: &MetricSummary, context: &Context<'_>) -> String {
    let lang = context.lang;
    let Values::Trend { exact: Some(is_exact), untimed, .. } = &metric.values else { return String::new() };
    let Some(said) = note(metric, &context.report.number_options()) else { return String::new() };
    let precision = if *is_exact { lang.exact() } else { lang.approximate() };
    match said.contains(',') {
        true => format!("{precision}, {}", lang.without_failed(untimed)),
        false => precision.to_owned(),
    }
}
