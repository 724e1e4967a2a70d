//! A study in the shape that `docs/format/capacity.schema.json` describes.

use api::Number;
use api::capacity::{
    CapacityCaptions, CapacityCeiling, CapacityDemand, CapacityEnd, CapacityKnee, CapacityLevel,
    CapacityLine, CapacityMeasured, CapacityMissing, CapacityObjective, CapacityRecommended, CapacityStudy,
    SCHEMA_VERSION,
};
use api::comparison::Bounds;
use api::page::Value;
use model::capacity::{
    Capacity, Confirmation, Demand, Estimate, Level, Line, LoadUnit, Measured, Objective, Place, Scale,
};

use super::{StudyReport, remark, sentences};
use crate::{Lang, escape, number};

/// The study as JSON text, indented, ending in a line break. Names are as the script wrote them: who shows them has to escape
/// them.
pub fn json(report: &StudyReport) -> String {
    // Types whose keys are texts and whose numbers are finite or null have a form in JSON, always.
    escape::json(&serde_json::to_string_pretty(&document(report, Lang::En)).unwrap_or_default()) + "\n"
}

/// Converts a study into the public types of the crate `api`.
pub fn document(report: &StudyReport, lang: Lang) -> CapacityStudy {
    CapacityStudy {
        schema_version: SCHEMA_VERSION,
        name: report.name.clone(),
        kind: report.kind.as_str(),
        script: report.script.clone(),
        load_time: time(Some(report.load_s)),
        parts: report.parts.iter().map(|part| of_part(part, lang)).collect(),
    }
}

fn of_part(capacity: &Capacity, lang: Lang) -> api::capacity::Capacity {
    let knee = sentences::knee_range(capacity);
    api::capacity::Capacity {
        variant: capacity.variant.clone(),
        unit: capacity.unit.as_str(),
        verdict: verdict(capacity),
        sentence: sentences::answer(capacity, lang),
        confirmed: sentences::confirmed(capacity, lang),
        plan: sentences::plan(capacity, lang),
        objectives: capacity.objectives.iter().map(|it| objective(it, capacity.unit, lang)).collect(),
        binding: capacity.binding,
        line: capacity.line.map(|it| line(&it, capacity.unit, lang)),
        recommended: capacity.recommended.map(|it| CapacityRecommended {
            load: load(it.load, capacity.unit, lang),
            vus: optional(it.vus, sentences::short),
            throughput: rate(Some(it.throughput_per_s)),
            requests: rate(it.requests_per_s),
            head_room: Number(it.head_room),
        }),
        ceiling: capacity.ceiling.map(|it| CapacityCeiling {
            throughput: rate(Some(it.per_s.value)),
            interval: interval(&it.per_s),
            plateau: bounds(it.plateau_least_per_s, it.plateau_most_per_s),
            cycle: (it.cycle_s > 0.0).then_some(Number(it.cycle_s * 1e3)),
        }),
        knee: knee.map(|(least, most)| bounds(least, most)),
        knees: knees(capacity, lang),
        demands: capacity.demands.iter().map(demand).collect(),
        end: capacity.end.as_ref().map(|it| CapacityEnd {
            resource: it.resource.clone(),
            ceiling: rate(Some(it.ceiling_per_s.value)),
            interval: interval(&it.ceiling_per_s),
            used: share(Some(it.used_share)),
        }),
        levels: levels(capacity, lang),
        captions: CapacityCaptions {
            throughput: sentences::throughput_caption(capacity, lang),
            time: sentences::time_caption(capacity, lang),
            knee: sentences::knee_caption(capacity, lang),
        },
        missing: capacity
            .missing
            .iter()
            .map(|it| CapacityMissing { kind: it.as_str(), sentence: sentences::missing(it, capacity, lang) })
            .collect(),
    }
}

/// All of it in a word.
fn verdict(capacity: &Capacity) -> &'static str {
    match (capacity.line.map(|line| line.place), capacity.confirmation) {
        (None, _) => "unknown",
        (Some(Place::AboveAll), _) => "above_all",
        (Some(Place::BelowAll), _) => "below_all",
        (Some(Place::Inside), Confirmation::Held { .. }) => "confirmed",
        (Some(Place::Inside), Confirmation::Broke { .. }) => "broke",
        (Some(Place::Inside), Confirmation::Untried) => "found",
    }
}

fn objective(objective: &Objective, unit: LoadUnit, lang: Lang) -> CapacityObjective {
    CapacityObjective {
        text: sentences::objective(objective),
        selector: objective.selector.clone(),
        statistic: objective.statistic.clone(),
        limit: scaled(Some(objective.limit).filter(|limit| limit.is_finite()), objective.scale),
        is_time: objective.scale == Scale::Milliseconds,
        line: objective.line.map(|it| line(&it, unit, lang)),
    }
}

fn line(line: &Line, unit: LoadUnit, lang: Lang) -> CapacityLine {
    CapacityLine {
        load: load(line.load.value, unit, lang),
        interval: interval(&line.load),
        confidence: Number(line.confidence),
        place: line.place.as_str(),
        method: line.method.as_str(),
        throughput: rate(Some(line.throughput_per_s)),
    }
}

fn knees(capacity: &Capacity, lang: Lang) -> Vec<CapacityKnee> {
    let knee = |(at, knee): (usize, &model::capacity::Knee)| CapacityKnee {
        method: knee.method.as_str(),
        load: match knee.load {
            Some(found) => load(found.value, capacity.unit, lang),
            None => {
                Value { value: None, text: "n/a".to_owned(), censored: Some(format!("n/a: {}", knee.why)) }
            }
        },
        interval: knee.load.map(|load| interval(&load)),
        is_chosen: capacity.knee == Some(at),
    };
    capacity.knees.iter().enumerate().map(knee).collect()
}

fn demand(demand: &Demand) -> CapacityDemand {
    let used = |value: f64| match demand.unit.as_str() {
        "" | "1" => sentences::short(value),
        unit => format!("{} {}", sentences::short(value), unit.trim_matches(['{', '}'])),
    };
    CapacityDemand {
        resource: demand.resource.clone(),
        per_work: optional(Some(demand.per_work.value), used),
        interval: interval(&demand.per_work),
        idle: optional(Some(demand.idle), used),
        limit: optional(demand.limit, used),
        ceiling: rate(demand.ceiling_per_s.map(|ceiling| ceiling.value)),
        ceiling_interval: demand.ceiling_per_s.map(|ceiling| interval(&ceiling)),
        levels: demand.levels,
        fit: Number(demand.fit),
        used: share(demand.used_share),
    }
}

fn levels(capacity: &Capacity, lang: Lang) -> Vec<CapacityLevel> {
    let mut before: Option<f64> = None;
    let level = |(at, level): (usize, &Level)| {
        let gain = before.map(|before| level.throughput_per_s / before - 1.0);
        if level.decides {
            before = Some(level.throughput_per_s);
        }
        let measured = level.measured.iter().zip(&capacity.objectives);
        CapacityLevel {
            run: level.run.clone(),
            name: level.name.clone(),
            purpose: level.purpose.as_str(),
            load: load(level.load, capacity.unit, lang),
            vus: optional(level.vus, sentences::short),
            throughput: rate(Some(level.throughput_per_s)),
            requests: rate(level.requests_per_s),
            time: time(level.time_s),
            failed: share(level.failed_share),
            gain: signed(gain),
            power: optional(level.power(), sentences::short),
            measured: time(level.measured_s),
            grade: level.grade.map(model::Grade::as_str),
            decides: level.decides,
            objectives: measured.map(|(measured, objective)| of_objective(measured, objective)).collect(),
            verdict: level.verdict.name(),
            words: sentences::verdict(level.verdict, lang).to_owned(),
            remark: remark::remark(capacity, at, lang),
        }
    };
    capacity.levels.iter().enumerate().map(level).collect()
}

fn of_objective(measured: &Measured, objective: &Objective) -> CapacityMeasured {
    let against = measured.value.map(|value| value / objective.limit - 1.0);
    CapacityMeasured {
        value: scaled(measured.value, objective.scale),
        is_kept: measured.is_kept(),
        holds: measured.holds.map(Number),
        against: signed(against.filter(|against| against.is_finite())),
    }
}

fn interval(estimate: &Estimate) -> Bounds {
    bounds(estimate.lower, estimate.upper)
}

fn bounds(lower: f64, upper: f64) -> Bounds {
    let finite = |bound: f64| bound.is_finite().then_some(Number(bound));
    Bounds { lower: finite(lower), upper: finite(upper) }
}

fn load(value: f64, unit: LoadUnit, lang: Lang) -> Value {
    optional(Some(value), |value| sentences::load(value, unit, lang))
}

fn rate(value: Option<f64>) -> Value {
    optional(value, sentences::per_second)
}

/// Seconds, as milliseconds.
fn time(value_s: Option<f64>) -> Value {
    optional(value_s.map(|value_s| value_s * 1e3), |ms| number::duration(ms, None))
}

fn share(value: Option<f64>) -> Value {
    optional(value, sentences::share)
}

/// A change as a share.
fn signed(value: Option<f64>) -> Value {
    optional(value, |share| format!("{:+.1} %", share * 100.0))
}

fn scaled(value: Option<f64>, scale: Scale) -> Value {
    optional(value, |value| sentences::scaled(value, scale))
}

fn optional(value: Option<f64>, shown: impl Fn(f64) -> String) -> Value {
    match value.filter(|value| value.is_finite()) {
        Some(value) => Value { value: Some(Number(value)), text: shown(value), censored: None },
        None => Value { value: None, text: "n/a".to_owned(), censored: Some("n/a".to_owned()) },
    }
}
