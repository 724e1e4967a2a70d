//! The sentences of a study, and its numbers as they are shown.

use model::capacity::{
    Capacity, Confirmation, Level, LineMethod, LoadUnit, Missing, Objective, Place, Purpose, Scale, Verdict,
};

use crate::Lang;
use crate::number;

/// Smaller shares have no digits in percent.
const SHARE_MIN: f64 = 0.0001;

/// A level whose throughput is at least this share of the highest level's is on its plateau.
const FLAT_MIN: f64 = 0.95;

/// The answer in a sentence.
pub(crate) fn answer(capacity: &Capacity, lang: Lang) -> String {
    let Some(line) = &capacity.line else {
        let is_valid = capacity.levels.is_empty() || capacity.levels.iter().any(|level| level.decides);
        let sentence = match (capacity.objectives.is_empty(), is_valid) {
            (true, _) => lang.capacity_no_slo(),
            (false, true) => lang.capacity_no_line(),
            (false, false) => lang.capacity_no_valid(),
        };
        return sentence.to_owned();
    };
    let shown = |value: f64| load(value, capacity.unit, lang);
    let binding = capacity.binding.and_then(|at| capacity.objectives.get(at));
    let binding = binding.map_or_else(String::new, objective);
    let has_row = |is_kept: bool| has_row(capacity, is_kept);
    match line.place {
        Place::AboveAll if has_row(false) => lang.capacity_above_highest(shown(line.load.value)),
        Place::AboveAll => lang.capacity_above_all(shown(line.load.value)),
        Place::BelowAll if has_row(true) => lang.capacity_below_lowest(binding, shown(line.load.value)),
        Place::BelowAll => lang.capacity_below_all(binding, shown(line.load.value)),
        Place::Inside => {
            let (value, bounds) = (shown(line.load.value), (line.load.lower, line.load.upper));
            match line.method {
                LineMethod::LogLinear => {
                    lang.capacity_line(value, loads(bounds, capacity.unit, lang), binding)
                }
                LineMethod::Isotonic => {
                    lang.capacity_line_between(value, short(bounds.0), shown(bounds.1), binding)
                }
            }
        }
    }
}

/// Whether a row shows that the binding objective is met, or violated; without one that binds, any objective.
fn has_row(capacity: &Capacity, is_kept: bool) -> bool {
    let levels = capacity.levels.iter().filter(|level| level.decides);
    let is_shown = |level: &Level| {
        let measured = level.measured.iter().enumerate();
        let binding = measured.filter(|(at, _)| capacity.binding.is_none_or(|binding| binding == *at));
        binding.map(|(_, measured)| measured.is_kept()).any(|it| it == Some(is_kept))
    };
    levels.into_iter().any(is_shown)
}

/// How the maximum load was confirmed; empty where no hold was made.
pub(crate) fn confirmed(capacity: &Capacity, lang: Lang) -> String {
    let shown = |value: f64| load(value, capacity.unit, lang);
    match capacity.confirmation {
        Confirmation::Untried => String::new(),
        Confirmation::Broke { load } => lang.capacity_broke(shown(load)),
        Confirmation::Held { load, for_s, above_broke, recovered } => {
            let above = match above_broke {
                None => "",
                Some(true) => lang.capacity_above_broke(),
                Some(false) => lang.capacity_above_held(),
            };
            let again = match recovered {
                None => "",
                Some(true) => lang.capacity_recovered(),
                Some(false) => lang.capacity_not_recovered(),
            };
            lang.capacity_held(seconds(for_s.round()), shown(load), above, again)
        }
    }
}

/// The recommended load and the limiting resource; empty where both are unknown.
pub(crate) fn plan(capacity: &Capacity, lang: Lang) -> String {
    let mut sentences = Vec::new();
    if let Some(recommended) = &capacity.recommended {
        let of = match capacity.line {
            Some(line) if line.place == Place::AboveAll => lang.capacity_highest_step(),
            Some(line) if line.confidence > 0.0 => lang.capacity_lower_bound(),
            _ => lang.capacity_point_estimate(),
        };
        let rate = match capacity.unit {
            LoadUnit::Vus => format!(", {}", per_second(recommended.throughput_per_s)),
            LoadUnit::PerSecond => {
                let vus = recommended.vus.map(|vus| load(vus, LoadUnit::Vus, lang));
                vus.map_or_else(String::new, |vus| lang.capacity_busy(vus))
            }
        };
        let shown = load(recommended.load, capacity.unit, lang);
        sentences.push(lang.capacity_plan(shown, rate, short(recommended.head_room), of));
    }
    if let Some(end) = &capacity.end {
        sentences.push(lang.capacity_limited_by(&end.resource, per_second(end.ceiling_per_s.value)));
    }
    sentences.join(" ")
}

/// The caption of throughput against load.
pub(super) fn throughput_caption(capacity: &Capacity, lang: Lang) -> String {
    let Some(last) = capacity.levels.iter().rfind(|level| level.decides) else { return String::new() };
    let Some((from, least, most)) = plateau(capacity) else {
        return lang.capacity_rises(per_second(last.throughput_per_s));
    };
    lang.capacity_flat(load(from, capacity.unit, lang), per_second(least), per_second(most))
}

/// The load from which on throughput is flat, with its least and its largest value from there on; `None` where it still rises at the
/// highest level.
fn plateau(capacity: &Capacity) -> Option<(f64, f64, f64)> {
    let deciding: Vec<&Level> = capacity.levels.iter().filter(|level| level.decides).collect();
    let last = deciding.last()?;
    let as_high_as = |least: f64| {
        deciding.iter().position(|level| level.throughput_per_s >= least).map(|at| &deciding[at..])
    };
    if let Some(ceiling) = &capacity.ceiling {
        let (least, most) = (ceiling.plateau_least_per_s, ceiling.plateau_most_per_s);
        return Some((as_high_as(least).map_or(last.load, |flat| flat[0].load), least, most));
    }
    let flat = as_high_as(last.throughput_per_s * FLAT_MIN)?;
    let throughputs = || flat.iter().map(|level| level.throughput_per_s);
    let least = throughputs().fold(f64::INFINITY, f64::min);
    (flat[0].load < last.load).then(|| (flat[0].load, least, throughputs().fold(least, f64::max)))
}

/// The caption of response time against throughput.
pub(super) fn time_caption(capacity: &Capacity, lang: Lang) -> String {
    let mut timed = capacity.levels.iter().filter(|level| level.decides && level.time_s.is_some());
    let (Some(first), Some(last)) = (timed.next(), timed.next_back()) else { return String::new() };
    let shown = |value: f64| load(value, capacity.unit, lang);
    let time = |time_s: Option<f64>| seconds(time_s.unwrap_or(0.0));
    lang.capacity_grows(
        shown(first.load),
        shown(last.load),
        time(first.time_s),
        time(last.time_s),
        per_second(first.throughput_per_s),
        per_second(last.throughput_per_s),
    )
}

/// How the methods agree on the knee.
pub(super) fn knee_caption(capacity: &Capacity, lang: Lang) -> String {
    let Some((least, most)) = knee_range(capacity) else { return lang.capacity_no_knee().to_owned() };
    let found = capacity.knees.iter().filter(|knee| knee.load.is_some()).count().to_string();
    let all = capacity.knees.len().to_string();
    if short(least) == short(most) {
        return lang.capacity_knee_at(found, all, load(most, capacity.unit, lang));
    }
    lang.capacity_knee_range(found, all, short(least), load(most, capacity.unit, lang))
}

/// The least and the largest knee of all methods.
pub(super) fn knee_range(capacity: &Capacity) -> Option<(f64, f64)> {
    let loads = || capacity.knees.iter().filter_map(|knee| knee.load).map(|load| load.value);
    Some((loads().reduce(f64::min)?, loads().reduce(f64::max)?))
}

/// A limitation, in a sentence.
pub(super) fn missing(missing: &Missing, capacity: &Capacity, lang: Lang) -> String {
    match missing {
        Missing::Objectives => lang.capacity_missing_objectives().to_owned(),
        Missing::Levels { have, needed } => lang.capacity_missing_levels(have, needed),
        Missing::LoadAbove => lang.capacity_missing_load_above().to_owned(),
        Missing::LoadBelow => lang.capacity_missing_load_below().to_owned(),
        Missing::ValidLevels { count } => lang.capacity_missing_valid_levels(count),
        Missing::FullWeight { count } => lang.capacity_missing_full_weight(count),
        Missing::Measurement { objective: at } => {
            let text = capacity.objectives.get(*at).map_or_else(String::new, objective);
            lang.capacity_missing_measurement(text)
        }
        Missing::Evidence => lang.capacity_missing_evidence().to_owned(),
        Missing::Limits => lang.capacity_missing_limits().to_owned(),
        Missing::Hold => lang.capacity_missing_hold().to_owned(),
        Missing::Repeats => lang.capacity_missing_repeats().to_owned(),
        Missing::Monotony => lang.capacity_missing_monotony().to_owned(),
        Missing::Agreement => lang.capacity_missing_agreement().to_owned(),
        Missing::Budget => lang.capacity_missing_budget().to_owned(),
    }
}

/// A verdict in words.
pub(super) fn verdict(verdict: Verdict, lang: Lang) -> &'static str {
    match verdict {
        Verdict::Baseline => lang.capacity_baseline(),
        Verdict::Normal => lang.capacity_normal(),
        Verdict::Knee => lang.capacity_knee(),
        Verdict::PastKnee => lang.capacity_past_knee(),
        Verdict::Saturated => lang.capacity_saturated(),
        Verdict::SloExceeded => lang.capacity_slo_exceeded(),
        Verdict::Collapse => lang.capacity_collapse(),
        Verdict::Unknown => lang.capacity_unknown(),
    }
}

/// A purpose in a word.
pub(super) fn purpose(purpose: Purpose, lang: Lang) -> &'static str {
    match purpose {
        Purpose::Asked => lang.capacity_step(),
        Purpose::Ramp => lang.capacity_ramp(),
        Purpose::Narrow => lang.capacity_bisect(),
        Purpose::Hold => lang.capacity_hold(),
        Purpose::Above => lang.capacity_above(),
        Purpose::Descent => lang.capacity_descent(),
    }
}

/// An objective as it was written.
pub(super) fn objective(objective: &Objective) -> String {
    format!("{}: {}", objective.selector, objective.condition)
}

/// A load with its unit.
pub(crate) fn load(value: f64, unit: LoadUnit, lang: Lang) -> String {
    match unit {
        LoadUnit::Vus if value == 1.0 => lang.capacity_vu().to_owned(),
        LoadUnit::Vus => lang.capacity_vus(short(value)),
        LoadUnit::PerSecond => per_second(value),
    }
}

/// Two loads with their unit.
fn loads((lower, upper): (f64, f64), unit: LoadUnit, lang: Lang) -> String {
    match unit {
        LoadUnit::Vus => lang.capacity_vus(format!("{}–{}", short(lower), short(upper))),
        LoadUnit::PerSecond => format!("{}–{}", short(lower), per_second(upper)),
    }
}

/// A rate.
pub(crate) fn per_second(value: f64) -> String {
    number::per_second(value)
}

/// A time of seconds.
pub(super) fn seconds(value_s: f64) -> String {
    number::duration(value_s * 1e3, None)
}

/// A statistic of an objective.
pub(super) fn scaled(value: f64, scale: Scale) -> String {
    match scale {
        Scale::Milliseconds => number::duration(value, None),
        Scale::Share => share(value),
        Scale::Plain => short(value),
    }
}

/// A share in percent. The smallest is not shown as none: one failed request of a million is a failed request.
pub(super) fn share(value: f64) -> String {
    if value > 0.0 && value < SHARE_MIN {
        format!("< {}", number::percent(SHARE_MIN))
    } else {
        number::percent(value)
    }
}

/// A number without digits that say nothing.
pub(crate) fn short(value: f64) -> String {
    number::readable(value)
}
