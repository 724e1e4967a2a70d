//! The load generator: dropped iterations and lost data.

use model::DropCause;

use crate::Lang;
use crate::RunReport;
use crate::escape::markdown_code;

use super::table::{Column, Table};
use super::{Context, metrics};

pub(super) fn body(context: &Context<'_>) -> Option<String> {
    let (report, lang) = (context.report, context.lang);
    if report.imported.is_some() {
        // Another generator made the load, and "nothing was lost" would be made up.
        return None;
    }
    let mut text = drops(context);
    let lost = losses(report, lang);
    if lost.is_empty() {
        text += &format!("\n{}\n", lang.nothing_lost());
    } else {
        let lost: Vec<String> = lost.iter().map(|(what, count)| format!("* {what}: {count}\n")).collect();
        text += &format!("\n{}", lost.concat());
    }
    if report.generator.workers > 0 {
        text += &format!("\n{}: {}\n", lang.workers(), report.generator.workers);
    }
    let shown = metrics::shown(context);
    let lateness: Vec<_> = shown.into_iter().filter(|metric| metric.name == "iteration_lateness").collect();
    if let Some(table) = metrics::trends(&lateness, context) {
        text += &format!("\n{}:\n\n{table}", lang.lateness());
    }
    Some(text)
}

/// Kinds and amounts of lost data; only those above zero.
pub(super) fn losses(report: &RunReport, lang: Lang) -> Vec<(&'static str, u64)> {
    let generator = &report.generator;
    let all = [
        (lang.workers_lost(), u64::from(generator.workers_lost)),
        (lang.samples_lost(), generator.samples_lost),
        (lang.windows_lost(), generator.windows_lost),
    ];
    all.into_iter().filter(|(_, count)| *count > 0).collect()
}

fn drops(context: &Context<'_>) -> String {
    let lang = context.lang;
    let mut table = Table::new(&[
        Column::Left(lang.scenario()),
        Column::Left(lang.cause()),
        Column::Right(lang.dropped_iterations()),
    ]);
    for drop in context.report.drops.iter().filter(|drop| drop.count > 0) {
        table.row(vec![
            markdown_code(&drop.scenario),
            cause(drop.cause, lang).to_owned(),
            drop.count.to_string(),
        ]);
    }
    match table.is_empty() {
        true => format!("{}\n", lang.drops_none()),
        false => table.render(lang, context.table_bytes),
    }
}

fn cause(cause: DropCause, lang: Lang) -> &'static str {
    match cause {
        DropCause::VusExhausted => lang.drop_vus_exhausted(),
        DropCause::VuStarting => lang.drop_vu_starting(),
        DropCause::TimeUp => lang.drop_time_up(),
        DropCause::AgentLost => lang.drop_agent_lost(),
    }
}
