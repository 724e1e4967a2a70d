//! The load generator: dropped iterations and lost data.

use std::time::Duration;

use model::{AgentState, DropCause};

use crate::document::Agent;
use crate::escape::{markdown_code, markdown_text};
use crate::{Lang, RunReport, number};

use super::table::{Column, Table};
use super::{Context, metrics};

/// Doubts of agents that are shown one by one; the page shows all.
const DOUBTS_MAX: usize = 20;

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
    text += &agents(context);
    let shown = metrics::shown(context);
    let lateness: Vec<_> = shown.into_iter().filter(|metric| metric.name == "iteration_lateness").collect();
    if let Some(table) = metrics::trends(&lateness, context) {
        text += &format!("\n{}:\n\n{table}", lang.lateness());
    }
    Some(text)
}

/// The agents of the run, where there are some.
fn agents(context: &Context<'_>) -> String {
    let lang = context.lang;
    let agents = &context.report.generator.agents;
    if agents.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&[
        Column::Left(lang.fleet_agent()),
        Column::Left(lang.fleet_state()),
        Column::Right(lang.fleet_share()),
        Column::Right(lang.fleet_due()),
        Column::Right(lang.fleet_achieved()),
        Column::Right(lang.fleet_cpu()),
        Column::Right(lang.fleet_lateness()),
    ]);
    let or_none = |text: Option<String>| text.unwrap_or_else(|| "–".to_owned());
    for agent in agents {
        let rate =
            |of: fn((f64, f64)) -> f64| or_none(agent.rates.map(|rates| number::per_second(of(rates))));
        table.row(vec![
            markdown_code(&agent.name),
            state(agent, lang),
            number::percent(agent.share),
            rate(|rates| rates.0),
            rate(|rates| rates.1),
            or_none(agent.cpu_max.map(number::percent)),
            or_none(agent.lateness_p99_ms.map(|ms| number::duration(ms, context.report.time_unit))),
        ]);
    }
    let mut text = format!("\n{}:\n\n{}", lang.fleet_agents(), table.render(lang, context.table_bytes));
    for agent in agents.iter().filter(|agent| !agent.doubts.is_empty()).take(DOUBTS_MAX) {
        text += &format!("\n* {}: {}\n", markdown_code(&agent.name), markdown_text(&agent.doubts));
    }
    text
}

fn state(agent: &Agent, lang: Lang) -> String {
    let word = match agent.state {
        AgentState::Joining => lang.agent_joining(),
        AgentState::Running => lang.agent_running(),
        AgentState::Suspect => lang.agent_suspect(),
        AgentState::Ended => lang.agent_ended(),
        AgentState::Lost => lang.agent_lost(),
    };
    let seconds = |at: Duration| format!("{:.0} s", at.as_secs_f64());
    match agent.missing {
        None => word.to_owned(),
        Some((from, None)) => format!("{word}, {}", lang.fleet_lost_since(seconds(from))),
        Some((from, Some(to))) => format!("{word}, {}", lang.fleet_lost(seconds(from), seconds(to))),
    }
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
