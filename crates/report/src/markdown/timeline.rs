//! The test's configuration and timeline.

use std::time::Duration;

use crate::document::Milestone;
use crate::escape::{markdown_code, markdown_text};
use crate::number;

use super::Context;
use super::table::{Column, Table};

/// Milestones that are shown at most.
const MILESTONES_MAX: usize = 40;

pub(super) fn body(context: &Context<'_>) -> Option<String> {
    Some([configuration(context), milestones(context)].into_iter().flatten().collect::<Vec<_>>().join("\n"))
}

fn configuration(context: &Context<'_>) -> Option<String> {
    let (identity, lang) = (&context.report.identity, context.lang);
    let mut table = Table::new(&[Column::Left(lang.name()), Column::Left(lang.value())]);
    let mut row = |name: &str, value: &str| {
        if !value.is_empty() {
            table.row(vec![name.to_owned(), markdown_code(value)]);
        }
    };
    row(lang.script(), &identity.script);
    row(lang.target(), &identity.target_version);
    for scenario in &context.report.summary.scenarios {
        row(lang.scenario(), &planned(&scenario.name, context).unwrap_or_else(|| scenario.name.clone()));
    }
    (!table.is_empty()).then(|| table.render(lang, context.table_bytes))
}

/// A scenario with what its options say of the load: `browse: ramping-vus, 30s to 500, 2m to 500`.
fn planned(name: &str, context: &Context<'_>) -> Option<String> {
    let options = context.report.options.as_ref()?.get("scenarios")?.get(name)?;
    let text = |key: &str| match options.get(key)? {
        serde_json::Value::String(text) => Some(text.clone()),
        serde_json::Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let mut parts: Vec<String> = text("executor").into_iter().collect();
    parts.extend(
        ["vus", "rate", "iterations", "duration"]
            .into_iter()
            .filter_map(|key| Some(format!("{key} {}", text(key)?))),
    );
    let stages = options.get("stages").and_then(serde_json::Value::as_array);
    for stage in stages.into_iter().flatten().take(MILESTONES_MAX) {
        let (duration, target) = (stage.get("duration")?.as_str()?, stage.get("target")?);
        parts.push(format!("{duration} → {target}"));
    }
    Some(format!("{name}: {}", parts.join(", ")))
}

fn milestones(context: &Context<'_>) -> Option<String> {
    let (report, lang) = (context.report, context.lang);
    let is_start_known = report.imported.as_ref().is_none_or(|imported| imported.is_start_known);
    if !is_start_known {
        return None;
    }
    let mut table = Table::new(&[
        Column::Left(lang.timeline_event()),
        Column::Left("UTC"),
        Column::Right(lang.timeline_elapsed()),
        Column::Right(lang.timeline_until()),
    ]);
    let elapsed = report.identity.elapsed;
    let start = Milestone { at: Duration::ZERO, kind: "started".to_owned(), text: String::new() };
    let end = Milestone { at: elapsed, kind: "ended".to_owned(), text: String::new() };
    let known = report.timeline.iter().take(MILESTONES_MAX).filter(|known| known.kind != "ended");
    let all: Vec<&Milestone> = std::iter::once(&start).chain(known).chain(std::iter::once(&end)).collect();
    for (index, one) in all.iter().enumerate() {
        let until = all.get(index + 1).map(|next| next.at.saturating_sub(one.at));
        table.row(vec![
            markdown_text([word(&one.kind, context), &one.text].join(" ").trim()),
            api::rfc3339_ms(report.identity.started_unix_ns.saturating_add(nanoseconds(one.at))),
            shown(one.at),
            until.map_or_else(|| "–".to_owned(), shown),
        ]);
    }
    Some(table.render(lang, context.table_bytes))
}

fn word<'a>(kind: &'a str, context: &Context<'_>) -> &'a str {
    let lang = context.lang;
    match kind {
        "started" => lang.started(),
        "setup_started" => lang.timeline_setup(),
        "scenarios_started" => lang.timeline_scenarios(),
        "scenarios_ended" => lang.timeline_scenarios_ended(),
        "teardown_started" => lang.timeline_teardown(),
        "ended" => lang.timeline_ended(),
        other => other,
    }
}

fn nanoseconds(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}

fn shown(time: Duration) -> String {
    number::duration(time.as_secs_f64() * 1000.0, None)
}
