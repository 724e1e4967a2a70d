//! The test's configuration and timeline.

use std::time::Duration;

use serde_json::Value;

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
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let mut parts: Vec<String> = text("executor").into_iter().collect();
    parts.extend(
        ["vus", "rate", "iterations", "duration"]
            .into_iter()
            .filter_map(|key| Some(format!("{key} {}", text(key)?))),
    );
    let stages = options.get("stages").and_then(Value::as_array);
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
    let stages = stages(context);
    let mut between: Vec<&Milestone> = known.chain(&stages).collect();
    between.sort_by_key(|one| one.at);
    let all: Vec<&Milestone> = std::iter::once(&start).chain(between).chain(std::iter::once(&end)).collect();
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

/// Returns the planned stages of ramping scenarios that began before the run ended: `scans: 0 → 500 VUs`.
fn stages(context: &Context<'_>) -> Vec<Milestone> {
    let report = context.report;
    let began = report.timeline.iter().find(|known| known.kind == "scenarios_started");
    let scenarios = report.options.as_ref().and_then(|options| options.get("scenarios")?.as_object());
    let (Some(began), Some(scenarios)) = (began, scenarios) else { return Vec::new() };
    let of_all = scenarios.iter().filter_map(|(name, scenario)| stages_of(name, scenario, began.at));
    of_all.flatten().filter(|stage| stage.at < report.identity.elapsed).take(MILESTONES_MAX).collect()
}

/// `None` if the scenario has no stages or one cannot be read.
fn stages_of(name: &str, scenario: &Value, began: Duration) -> Option<Vec<Milestone>> {
    let unit = match scenario.get("executor")?.as_str()? {
        "ramping-vus" => " VUs".to_owned(),
        _ => format!("/{}", scenario.get("timeUnit").and_then(Value::as_str).unwrap_or("1s")),
    };
    let number = |key: &str| scenario.get(key).and_then(Value::as_u64);
    let mut before = number("startVUs").or_else(|| number("startRate")).unwrap_or(0);
    let mut at =
        began + scenario.get("startTime").and_then(Value::as_str).map_or(Some(Duration::ZERO), duration)?;
    let mut all = Vec::new();
    for stage in scenario.get("stages")?.as_array()? {
        let target = stage.get("target")?.as_u64()?;
        let load = if target == before { format!("{target}") } else { format!("{before} → {target}") };
        all.push(Milestone { at, kind: String::new(), text: format!("{name}: {load}{unit}") });
        at += duration(stage.get("duration")?.as_str()?)?;
        before = target;
    }
    Some(all)
}

/// Parses a duration as options write it: `1m30s`, `500ms`.
fn duration(text: &str) -> Option<Duration> {
    let mut rest = text;
    let mut sum_s = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|glyph: char| !glyph.is_ascii_digit() && glyph != '.')?;
        let (value, unit) = (rest[..digits].parse::<f64>().ok()?, &rest[digits..]);
        let units = [("ms", 1e-3), ("h", 3600.0), ("m", 60.0), ("s", 1.0)];
        let (name, seconds) = units.into_iter().find(|(name, _)| unit.starts_with(name))?;
        sum_s += value * seconds;
        rest = &unit[name.len()..];
    }
    Duration::try_from_secs_f64(sum_s).ok()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_begin_where_those_before_end() {
        let scenario = serde_json::json!({
            "executor": "ramping-vus",
            "startTime": "500ms",
            "stages": [{ "duration": "1m30s", "target": 500 }, { "duration": "2s", "target": 500 }, { "duration": "1h", "target": 0 }],
        });
        let all = stages_of("scans", &scenario, Duration::from_secs(1)).expect("stages");
        let all: Vec<(u128, &str)> = all.iter().map(|one| (one.at.as_millis(), one.text.as_str())).collect();
        assert_eq!(
            all,
            [(1_500, "scans: 0 → 500 VUs"), (91_500, "scans: 500 VUs"), (93_500, "scans: 500 → 0 VUs")]
        );
        assert_eq!(duration("1d"), None);
        assert_eq!(duration("s"), None);
    }
}
