//! What a study says, in sentences, and its numbers as they are shown.

use model::capacity::{
    Capacity, Confirmation, LineMethod, LoadUnit, Missing, Objective, Place, Purpose, Scale, Verdict,
};

use crate::lang::{Words, fill};
use crate::number;

/// Digits of a number that say something.
const DIGITS: i32 = 3;

/// The answer in a sentence.
pub(super) fn answer(capacity: &Capacity, words: &Words) -> String {
    let Some(line) = &capacity.line else {
        let is_asked = !capacity.objectives.is_empty();
        return (if is_asked { words.cap_no_line } else { words.cap_not_asked }).to_owned();
    };
    let shown = |value: f64| load(value, capacity.unit, words);
    let binding = capacity.binding.and_then(|at| capacity.objectives.get(at));
    let binding = binding.map_or_else(String::new, objective);
    match line.place {
        Place::AboveAll => fill(words.cap_above_all, &[&shown(line.load.value)]),
        Place::BelowAll => fill(words.cap_below_all, &[&binding, &shown(line.load.value)]),
        Place::Inside => {
            let text = match line.method {
                LineMethod::LogLinear => words.cap_line,
                LineMethod::Isotonic => words.cap_line_between,
            };
            let bounds = (short(line.load.lower), shown(line.load.upper));
            fill(text, &[&shown(line.load.value), &bounds.0, &bounds.1, &binding])
        }
    }
}

/// How the line was confirmed; empty where nobody tried.
pub(super) fn confirmed(capacity: &Capacity, words: &Words) -> String {
    let shown = |value: f64| load(value, capacity.unit, words);
    match capacity.confirmation {
        Confirmation::Untried => String::new(),
        Confirmation::Broke { load } => fill(words.cap_broke, &[&shown(load)]),
        Confirmation::Held { load, for_s, above_broke, recovered } => {
            let above = match above_broke {
                None => "",
                Some(true) => words.cap_above_broke,
                Some(false) => words.cap_above_held,
            };
            let again = match recovered {
                None => "",
                Some(true) => words.cap_recovered,
                Some(false) => words.cap_not_recovered,
            };
            fill(words.cap_held, &[&seconds(for_s), &shown(load), above, again])
        }
    }
}

/// What to plan for and what ends it; empty where nobody can say.
pub(super) fn plan(capacity: &Capacity, words: &Words) -> String {
    let mut sentences = Vec::new();
    if let Some(recommended) = &capacity.recommended {
        let of = match capacity.line {
            Some(line) if line.confidence > 0.0 || line.place == Place::AboveAll => words.cap_lower_bound,
            _ => words.cap_line_itself,
        };
        let rate = match capacity.unit {
            LoadUnit::Vus => format!(", {}", per_second(recommended.throughput_per_s)),
            LoadUnit::PerSecond => {
                let vus = recommended.vus.map(|vus| load(vus, LoadUnit::Vus, words));
                vus.map_or_else(String::new, |vus| format!(", {vus}"))
            }
        };
        let shown = load(recommended.load, capacity.unit, words);
        sentences.push(fill(words.cap_plan, &[&shown, &rate, &short(recommended.head_room), of]));
    }
    if let Some(end) = &capacity.end {
        sentences.push(fill(words.cap_ends, &[&end.resource, &per_second(end.ceiling_per_s.value)]));
    }
    sentences.join(" ")
}

/// What throughput does against the load.
pub(super) fn throughput_caption(capacity: &Capacity, words: &Words) -> String {
    let deciding = || capacity.levels.iter().filter(|level| level.decides);
    let Some(last) = deciding().next_back() else { return String::new() };
    let Some(ceiling) = &capacity.ceiling else {
        return fill(words.cap_rises, &[&per_second(last.throughput_per_s)]);
    };
    let (least, most) = (ceiling.plateau_least_per_s, ceiling.plateau_most_per_s);
    let from = deciding().find(|level| level.throughput_per_s >= least).map_or(last.load, |level| level.load);
    fill(words.cap_flat, &[&load(from, capacity.unit, words), &per_second(least), &per_second(most)])
}

/// What the time does against throughput.
pub(super) fn time_caption(capacity: &Capacity, words: &Words) -> String {
    let mut timed = capacity.levels.iter().filter(|level| level.decides && level.time_s.is_some());
    let (Some(first), Some(last)) = (timed.next(), timed.next_back()) else { return String::new() };
    let shown = |value: f64| load(value, capacity.unit, words);
    let time = |time_s: Option<f64>| seconds(time_s.unwrap_or(0.0));
    fill(
        words.cap_grows,
        &[
            &shown(first.load),
            &shown(last.load),
            &time(first.time_s),
            &time(last.time_s),
            &per_second(first.throughput_per_s),
            &per_second(last.throughput_per_s),
        ],
    )
}

/// How the methods agree on the knee.
pub(super) fn knee_caption(capacity: &Capacity, words: &Words) -> String {
    let Some((least, most)) = knee_range(capacity) else { return words.cap_no_knee.to_owned() };
    let found = capacity.knees.iter().filter(|knee| knee.load.is_some()).count().to_string();
    let all = capacity.knees.len().to_string();
    fill(words.cap_knee_range, &[&found, &all, &short(least), &load(most, capacity.unit, words)])
}

/// The least and the largest knee of all methods.
pub(super) fn knee_range(capacity: &Capacity) -> Option<(f64, f64)> {
    let loads = || capacity.knees.iter().filter_map(|knee| knee.load).map(|load| load.value);
    Some((loads().reduce(f64::min)?, loads().reduce(f64::max)?))
}

/// What is missing, in a sentence.
pub(super) fn missing(missing: &Missing, capacity: &Capacity, words: &Words) -> String {
    match missing {
        Missing::Objectives => words.cap_missing_objectives.to_owned(),
        Missing::Levels { have, needed } => {
            fill(words.cap_missing_levels, &[&have.to_string(), &needed.to_string()])
        }
        Missing::LoadAbove => words.cap_missing_load_above.to_owned(),
        Missing::LoadBelow => words.cap_missing_load_below.to_owned(),
        Missing::ValidLevels { count } => fill(words.cap_missing_valid_levels, &[&count.to_string()]),
        Missing::Measurement { objective: at } => {
            let text = capacity.objectives.get(*at).map_or_else(String::new, objective);
            fill(words.cap_missing_measurement, &[&text])
        }
        Missing::Evidence => words.cap_missing_evidence.to_owned(),
        Missing::Limits => words.cap_missing_limits.to_owned(),
        Missing::Hold => words.cap_missing_hold.to_owned(),
        Missing::Repeats => words.cap_missing_repeats.to_owned(),
        Missing::Monotony => words.cap_missing_monotony.to_owned(),
        Missing::Agreement => words.cap_missing_agreement.to_owned(),
        Missing::Budget => words.cap_missing_budget.to_owned(),
    }
}

/// A verdict in words.
pub(super) fn verdict(verdict: Verdict, words: &Words) -> &'static str {
    match verdict {
        Verdict::Baseline => words.cap_baseline,
        Verdict::Normal => words.cap_normal,
        Verdict::Knee => words.cap_knee,
        Verdict::PastKnee => words.cap_past_knee,
        Verdict::Saturated => words.cap_saturated,
        Verdict::SloExceeded => words.cap_slo_exceeded,
        Verdict::Collapse => words.cap_collapse,
        Verdict::Unknown => words.cap_unknown,
    }
}

/// A purpose in a word.
pub(super) fn purpose(purpose: Purpose, words: &Words) -> &'static str {
    match purpose {
        Purpose::Asked => words.cap_asked,
        Purpose::Ramp => words.cap_ramp,
        Purpose::Narrow => words.cap_narrow,
        Purpose::Hold => words.cap_hold,
        Purpose::Above => words.cap_above,
        Purpose::Descent => words.cap_descent,
    }
}

/// An objective as it was written.
pub(super) fn objective(objective: &Objective) -> String {
    format!("{}: {}", objective.selector, objective.condition)
}

/// A load with its unit.
pub(super) fn load(value: f64, unit: LoadUnit, words: &Words) -> String {
    match unit {
        LoadUnit::Vus => fill(words.cap_vus, &[&short(value)]),
        LoadUnit::PerSecond => per_second(value),
    }
}

/// A rate.
pub(super) fn per_second(value: f64) -> String {
    format!("{}/s", short(value))
}

/// A time of seconds.
pub(super) fn seconds(value_s: f64) -> String {
    number::duration(value_s * 1e3, None)
}

/// A statistic of an objective.
pub(super) fn scaled(value: f64, scale: Scale) -> String {
    match scale {
        Scale::Milliseconds => number::duration(value, None),
        Scale::Share => number::percent(value),
        Scale::Plain => short(value),
    }
}

/// A number without digits that say nothing.
pub(super) fn short(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return number::plain(value);
    }
    let before = value.abs().log10().floor() as i32 + 1;
    let factor = 10f64.powi((DIGITS - before).clamp(0, 9));
    number::plain((value * factor).round() / factor)
}
