//! What the load generator says about itself: what it did not start, and what it lost.

use model::DropCause;

use crate::RunReport;
use crate::escape::markdown_code;
use crate::lang::Words;

use super::table::{Column, Table};
use super::{Context, metrics};

pub(super) fn body(context: &Context<'_>) -> Option<String> {
    let (report, words) = (context.report, context.words);
    if report.imported.is_some() {
        // Another generator made the load, and "nothing was lost" would be made up.
        return None;
    }
    let mut text = drops(context);
    let lost = losses(report, words);
    if lost.is_empty() {
        text += &format!("\n{}\n", words.nothing_lost);
    } else {
        let lost: Vec<String> = lost.iter().map(|(what, count)| format!("* {what}: {count}\n")).collect();
        text += &format!("\n{}", lost.concat());
    }
    if report.generator.workers > 0 {
        text += &format!("\n{}: {}\n", words.workers, report.generator.workers);
    }
    let shown = metrics::shown(context);
    let lateness: Vec<_> = shown.into_iter().filter(|metric| metric.name == "iteration_lateness").collect();
    if let Some(table) = metrics::trends(&lateness, context) {
        text += &format!("\n{}:\n\n{table}", words.lateness);
    }
    Some(text)
}

/// What was lost and how much of it; only what was.
pub(super) fn losses(report: &RunReport, words: &Words) -> Vec<(&'static str, u64)> {
    let generator = &report.generator;
    let all = [
        (words.workers_lost, u64::from(generator.workers_lost)),
        (words.samples_lost, generator.samples_lost),
        (words.windows_lost, generator.windows_lost),
    ];
    all.into_iter().filter(|(_, count)| *count > 0).collect()
}

fn drops(context: &Context<'_>) -> String {
    let words = context.words;
    let mut table = Table::new(&[
        Column::Left(words.scenario),
        Column::Left(words.cause),
        Column::Right(words.dropped_iterations),
    ]);
    for drop in context.report.drops.iter().filter(|drop| drop.count > 0) {
        table.row(vec![
            markdown_code(&drop.scenario),
            cause(drop.cause, words).to_owned(),
            drop.count.to_string(),
        ]);
    }
    match table.is_empty() {
        true => format!("{}\n", words.drops_none),
        false => table.render(words, context.table_bytes),
    }
}

fn cause(cause: DropCause, words: &Words) -> &'static str {
    match cause {
        DropCause::VusExhausted => words.drop_vus_exhausted,
        DropCause::VuStarting => words.drop_vu_starting,
        DropCause::TimeUp => words.drop_time_up,
    }
}
