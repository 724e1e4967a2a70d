//! The trend over load: the steps of the study that the run is a part of, each with a verdict.

use api::capacity::{Capacity, CapacityLevel};
use api::report::ReportValue;

use crate::Lang;
use crate::escape::{markdown_code, markdown_prose, markdown_text};

use super::Context;
use super::table::{Column, Table};

/// Further sentences that are shown at most.
const MISSING_MAX: usize = 20;

/// The capacity of the run's variant.
pub(super) fn part<'a>(context: &Context<'a>) -> Option<&'a Capacity> {
    let parts = &context.report.capacity.as_ref()?.parts;
    let id = &context.report.identity.id;
    parts.iter().find(|part| part.levels.iter().any(|level| level.run == *id)).or(parts.first())
}

pub(super) fn body(context: &Context<'_>) -> Option<String> {
    let (part, lang) = (part(context)?, context.lang);
    let sentences = [&part.sentence, &part.confirmed, &part.plan].into_iter().filter(|text| !text.is_empty());
    let mut text = sentences.map(|text| markdown_prose(text)).collect::<Vec<_>>().join(" ") + "\n\n";
    text += &levels(part, context);
    for missing in part.missing.iter().take(MISSING_MAX) {
        text += &format!("\n> {}\n", markdown_prose(&missing.sentence));
    }
    if !part.demands.is_empty() {
        text += &format!("\n{}", demands(part, lang, context.table_bytes));
    }
    Some(text)
}

fn levels(part: &Capacity, context: &Context<'_>) -> String {
    let lang = context.lang;
    let objective = part.binding.and_then(|place| part.objectives.get(place)).or(part.objectives.first());
    let mut table = Table::new(&[
        Column::Right(lang.capacity_load()),
        Column::Right(lang.requests_rate()),
        Column::Right(lang.failed()),
        Column::Right(lang.duration()),
        Column::Right(lang.capacity_throughput()),
        Column::Right(lang.capacity_gain()),
        Column::Left(lang.capacity_slo()),
        Column::Left(lang.comparison_verdict()),
        Column::Left(lang.capacity_remark()),
    ]);
    for level in &part.levels {
        let kept = level.objectives.get(part.binding.unwrap_or(0)).and_then(|measured| measured.is_kept);
        let kept = match kept {
            Some(true) => "✅",
            Some(false) => "❌",
            None => "–",
        };
        table.row(vec![
            load(level, context),
            value(&level.requests),
            value(&level.failed),
            value(&level.time),
            value(&level.throughput),
            value(&level.gain),
            kept.to_owned(),
            markdown_text(&level.words),
            markdown_prose(&level.remark),
        ]);
    }
    let judged =
        objective.map(|objective| format!("{}: {}\n\n", lang.capacity_slo(), markdown_code(&objective.text)));
    judged.unwrap_or_default() + &table.render(lang, context.table_bytes)
}

/// The load; that of the run itself stands out.
fn load(level: &CapacityLevel, context: &Context<'_>) -> String {
    let text = value(&level.load);
    if level.run == context.report.identity.id { format!("**{text}**") } else { text }
}

fn demands(part: &Capacity, lang: Lang, bytes_max: usize) -> String {
    let mut table = Table::new(&[
        Column::Left(lang.capacity_resource()),
        Column::Right(lang.capacity_demand()),
        Column::Right(lang.limit()),
        Column::Right(lang.capacity_used()),
        Column::Right(lang.capacity_ceiling()),
    ]);
    for demand in &part.demands {
        let values = [&demand.per_work, &demand.limit, &demand.used, &demand.ceiling].map(value);
        table.row([vec![markdown_code(&demand.resource)], values.to_vec()].concat());
    }
    table.render(lang, bytes_max)
}

/// A value in a cell; a dash where there is none.
fn value(value: &ReportValue) -> String {
    match value.value {
        Some(_) => markdown_text(&value.text),
        None => "–".to_owned(),
    }
}
