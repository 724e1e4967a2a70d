//! `/runs/{id}`: the run's document, with the data around it.

use std::collections::BTreeSet;

use api::page::{MetricName, ModuleHash, RunPage, ScenarioName, ShownWindow, TabCounts};
use model::Epoch;
use server::PageError;

use super::scope::Scope;
use super::{Beside, damaged, generator, json};

pub(super) fn answer(scope: &Scope, beside: &Beside) -> Result<String, PageError> {
    let reader = &scope.reader;
    let header = reader.header();
    let report = report::json::document_in(scope.document()?, scope.lang);
    let (window, elapsed) = scope.sum()?;
    let states = generator::states(scope)?;
    let verdict = (report.verdict.verdict, report.verdict.sentence.clone());
    let headline = generator::facts(scope, &states)?.headline(
        verdict,
        Some(scope.validity()?).filter(|_| header.imported.is_none()),
        elapsed,
        scope.time_unit(),
    );
    let scenarios = header.report.scenarios.iter().map(|scenario| ScenarioName {
        name: scenario.name.clone(),
        executor: scenario.executor.clone(),
        is_open: scenario.is_open,
    });
    let is_closed = !header.report.has_open_scenario() && header.imported.is_none();
    let epoch =
        Epoch { at: model::Instant::from_ns(header.started_ns), wall_unix_ns: header.started_wall_ns };
    let module =
        |module: &runfile::Module| ModuleHash { path: module.path.clone(), sha256: module.sha256.clone() };
    let metrics: BTreeSet<_> = window.series.iter().map(|(key, _)| key.metric).collect();
    let metric = |id| {
        let metric = reader.registry().get(id);
        MetricName {
            name: metric.name.to_string(),
            kind: metric.kind.as_str(),
            contains: metric.contains.as_str(),
        }
    };
    let mut metrics: Vec<MetricName> = metrics.into_iter().map(metric).collect();
    metrics.sort_by(|a, b| a.name.cmp(&b.name));
    json(&RunPage {
        status: runs::state_word(reader),
        seconds: scope.all.len() as u32,
        window: ShownWindow {
            from: scope.second(scope.range.start),
            to: scope.second(scope.range.end),
            is_whole: scope.is_whole(),
        },
        zero: api::rfc3339(epoch.wall_unix_ns(scope.zero)),
        ended: reader
            .ending()
            .filter(|ending| ending.ended_wall_ns > 0)
            .map(|ending| api::rfc3339(ending.ended_wall_ns)),
        scenarios: scenarios.collect(),
        no_response_time: is_closed.then(|| scope.lang.no_response_time()),
        metrics,
        command: header.command_line.iter().map(|word| runs::quoted(word)).collect::<Vec<_>>().join(" "),
        modules: header.modules.iter().map(module).collect(),
        counts: TabCounts {
            requests: report.endpoints.len() as u64,
            errors: report.errors.len() as u64,
            logs: reader.log_count().map_err(damaged)?,
            thresholds: report.thresholds.len() as u64,
            traces: reader.trace_count().map_err(damaged)?,
            agents: header.agents.len() as u64,
        },
        headline,
        report,
        note: beside.remark.note.clone(),
        is_baseline: beside.remark.is_baseline,
        reopen: beside.reopen.clone(),
    })
}
