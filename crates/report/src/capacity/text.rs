//! A study on a terminal.

use analysis::capacity::sight::Sight;
use model::capacity::{Capacity, Level, LoadUnit, Measured, Objective, Verdict};

use super::remark::is_unsure;
use super::{StudyReport, sentences};
use crate::style::{BOLD, FAINT, GREEN, RED, YELLOW, width};
use crate::{Lang, Style, escape, number};

/// Levels that are shown at most, the lowest.
const ROWS_MAX: usize = 200;

/// Resources that are shown at most.
const DEMANDS_MAX: usize = 10;

/// A level that is over.
pub struct LevelLine<'a> {
    /// The level.
    pub level: &'a Level,
    /// The measured values of the objectives.
    pub sights: &'a [Sight],
    /// The objectives.
    pub objectives: &'a [Objective],
    /// The unit of its load.
    pub unit: LoadUnit,
    /// The change that was applied for it; empty where none was.
    pub change: &'a str,
    /// About how long everything takes after it, in seconds.
    pub left_s: f64,
}

/// The name of a step's run: `sweep 200 VUs REPLICAS=2`.
pub fn level_name(load: f64, unit: LoadUnit, change: &str) -> String {
    let load = sentences::load(load, unit, Lang::En);
    format!("{load} {change}").trim().to_owned()
}

/// The log line at the end of a step: `ramp 40/s: 40/s done, p(95) 312.4ms ✓; about 6m left`.
pub fn level_line(line: &LevelLine<'_>) -> String {
    let lang = Lang::En;
    let level = line.level;
    let seen = line.objectives.iter().zip(line.sights).map(|(objective, sight)| {
        let value =
            sight.value.map_or_else(|| "n/a".to_owned(), |value| sentences::scaled(value, objective.scale));
        let mark = match sight.holds() {
            None => "?",
            Some(holds) if holds >= 0.5 => "✓",
            Some(_) => "✗",
        };
        let selector = escape::short(&objective.selector);
        format!(", {selector} {} {value} {mark}", escape::short(&objective.statistic))
    });
    let left = match line.left_s {
        left_s if left_s >= 1.0 => {
            format!("; {}", lang.capacity_time_left(sentences::seconds(left_s.round())))
        }
        _ => String::new(),
    };
    format!(
        "{} {}: {} done{}{left}",
        sentences::purpose(level.purpose, lang),
        escape::terminal(&level_name(level.load, line.unit, line.change)),
        sentences::per_second(level.throughput_per_s),
        seen.collect::<String>(),
    )
}

/// The study as text, ending in a line break.
pub fn text(report: &StudyReport, lang: Lang, style: Style) -> String {
    let parts: Vec<String> = report.parts.iter().map(|part| of_part(part, lang, style)).collect();
    style.fit(parts.join("\n"))
}

fn of_part(capacity: &Capacity, lang: Lang, style: Style) -> String {
    let mut text = String::new();
    if !capacity.variant.is_empty() {
        text += &format!("{}\n", style.paint(BOLD, &escape::short(&capacity.variant)));
    }
    text += &format!("{}\n", style.paint(BOLD, &escape::terminal(&sentences::answer(capacity, lang))));
    for sentence in [sentences::confirmed(capacity, lang), sentences::plan(capacity, lang)] {
        if !sentence.is_empty() {
            text += &format!("{}\n", escape::terminal(&sentence));
        }
    }
    text += &format!("{}\n", sentences::knee_caption(capacity, lang));
    text +=
        &format!("\n{}\n{}", style.paint(BOLD, lang.capacity_column_levels()), levels(capacity, lang, style));
    if !capacity.demands.is_empty() {
        text +=
            &format!("\n{}\n{}", style.paint(BOLD, lang.capacity_column_demands()), demands(capacity, lang));
    }
    if !capacity.missing.is_empty() {
        text += &format!("\n{}\n", style.paint(BOLD, lang.capacity_column_missing()));
        for missing in &capacity.missing {
            let sentence = escape::terminal(&sentences::missing(missing, capacity, lang));
            text += &format!("  {} {sentence}\n", style.paint(YELLOW, "•"));
        }
    }
    text
}

fn levels(capacity: &Capacity, lang: Lang, style: Style) -> String {
    let mut head: Vec<String> =
        [lang.capacity_column_load(), lang.capacity_column_purpose(), lang.capacity_column_throughput()]
            .map(str::to_owned)
            .to_vec();
    head.extend(
        capacity.objectives.iter().map(|it| escape::short(&format!("{} {}", it.selector, it.condition))),
    );
    if capacity.objectives.is_empty() {
        head.push(lang.capacity_column_time().to_owned());
    }
    head.extend([lang.capacity_column_power(), lang.capacity_column_verdict()].map(str::to_owned));
    let row = |level: &Level| {
        let mut cells = vec![
            sentences::load(level.load, capacity.unit, lang),
            sentences::purpose(level.purpose, lang).to_owned(),
            sentences::per_second(level.throughput_per_s),
        ];
        let none = || "–".to_owned();
        for (measured, objective) in level.measured.iter().zip(&capacity.objectives) {
            let value = measured.value.map_or_else(none, |value| sentences::scaled(value, objective.scale));
            cells.push(format!("{value} {}", mark(measured)));
        }
        if capacity.objectives.is_empty() {
            cells.push(level.time_s.map_or_else(none, sentences::seconds));
        }
        cells.push(level.power().map_or_else(none, sentences::short));
        cells.push(sentences::verdict(level.verdict, lang).to_owned());
        (cells, colour(level.verdict))
    };
    let mut rows = vec![(head, FAINT)];
    rows.extend(capacity.levels.iter().take(ROWS_MAX).map(row));
    let mut text = table(&rows, style);
    let measured = || capacity.levels.iter().take(ROWS_MAX).flat_map(|level| &level.measured);
    if measured().any(|measured| mark(measured).chars().count() > 1) {
        text += &format!("  {}\n", style.paint(FAINT, lang.capacity_unsure_rows()));
    }
    if measured().any(|measured| measured.holds.is_none()) {
        text += &format!("  {}\n", style.paint(FAINT, lang.capacity_unknown_rows()));
    }
    let beyond = capacity.levels.len().saturating_sub(ROWS_MAX);
    if beyond > 0 {
        text += &format!("  {}\n", lang.more_rows(beyond));
    }
    text
}

/// Whether an objective is met at a step: `✓` and `✗`, with a `?` if chance may have decided.
fn mark(measured: &Measured) -> &'static str {
    match (measured.is_kept(), is_unsure(measured)) {
        (None, _) => "?",
        (Some(true), false) => "✓",
        (Some(true), true) => "✓?",
        (Some(false), false) => "✗",
        (Some(false), true) => "✗?",
    }
}

fn demands(capacity: &Capacity, lang: Lang) -> String {
    let head = [
        lang.capacity_column_resource(),
        lang.capacity_column_demand(),
        lang.capacity_column_idle(),
        lang.capacity_column_limit(),
        lang.capacity_column_ceiling(),
    ];
    let mut rows = vec![(head.map(str::to_owned).to_vec(), FAINT)];
    rows.extend(capacity.demands.iter().take(DEMANDS_MAX).map(|demand| {
        let optional = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), sentences::short);
        let ceiling = demand.ceiling_per_s.map(|ceiling| sentences::per_second(ceiling.value));
        let cells = vec![
            escape::short(&demand.resource),
            format!(
                "{} ± {}",
                sentences::short(demand.per_work.value),
                half(demand.per_work.upper - demand.per_work.lower)
            ),
            sentences::short(demand.idle),
            optional(demand.limit),
            ceiling.unwrap_or_else(|| "–".to_owned()),
        ];
        (cells, "")
    }));
    table(&rows, Style { colour: false, ..Style::PLAIN })
}

fn half(value: f64) -> String {
    if value.is_finite() { sentences::short(value / 2.0) } else { number::plain(value) }
}

/// Rows whose first cells are left and whose others are right, the last painted.
fn table(rows: &[(Vec<String>, &str)], style: Style) -> String {
    let columns = rows.iter().map(|row| row.0.len()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|column| {
            rows.iter().filter_map(|row| row.0.get(column)).map(|cell| width(cell)).max().unwrap_or(0)
        })
        .collect();
    let line = |(cells, code): &(Vec<String>, &str)| {
        let last = cells.len().saturating_sub(1);
        let mut text = String::from("  ");
        for (column, (cell, width_max)) in cells.iter().zip(&widths).enumerate() {
            let blanks = " ".repeat(width_max - width(cell));
            text += &match column {
                column if column == last => style.paint(code, cell),
                0 => format!("{cell}{blanks}  "),
                _ => format!("{blanks}{cell}  "),
            };
        }
        format!("{}\n", text.trim_end())
    };
    rows.iter().map(line).collect()
}

fn colour(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Baseline | Verdict::Normal | Verdict::Knee => GREEN,
        Verdict::PastKnee | Verdict::Saturated => YELLOW,
        Verdict::SloExceeded | Verdict::Collapse => RED,
        Verdict::Unknown => FAINT,
    }
}
