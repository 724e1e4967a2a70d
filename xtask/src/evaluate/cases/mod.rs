//! The cases: one file and one line each.

mod between_runs;
mod capacity;
mod confirmations;
mod diagnosis;
mod diagnosis_speed;
mod false_changes;
mod find;
mod gallery;
mod generator_faults;
mod plans;
mod power;
mod predictions;
mod real;
mod real_ramps;
mod speed;
mod steady;

use super::{Case, Parts};

pub(super) use gallery::replay as replay_gallery;
pub(super) use real::binary;

/// How long a part of a case takes, about, seconds; none where it is not long.
pub(super) fn part_s(case: &str) -> Option<f64> {
    match case {
        "diagnosis" => Some(diagnosis::CASE_S),
        "predictions" => Some(predictions::CASE_S),
        "confirmations" => Some(confirmations::CASE_S),
        "find" => Some(find::PART_S),
        "gallery" | "gallery-sources" => Some(gallery::CASE_S),
        _ => None,
    }
}

pub(super) const ALL: &[Case] = &[
    Case {
        name: "steady",
        parts: Parts::Listed(steady::PARTS),
        measure: steady::measure,
        table: steady::table,
    },
    Case {
        name: "false-changes",
        parts: Parts::Listed(false_changes::PARTS),
        measure: false_changes::measure,
        table: false_changes::table,
    },
    Case { name: "power", parts: Parts::Listed(power::PARTS), measure: power::measure, table: power::table },
    Case {
        name: "between-runs",
        parts: Parts::Listed(between_runs::PARTS),
        measure: between_runs::measure,
        table: between_runs::table,
    },
    Case { name: "plans", parts: Parts::Listed(plans::PARTS), measure: plans::measure, table: plans::table },
    Case { name: "speed", parts: Parts::Listed(speed::PARTS), measure: speed::measure, table: speed::table },
    Case {
        name: "generator-faults",
        parts: Parts::Listed(generator_faults::PARTS),
        measure: generator_faults::measure,
        table: generator_faults::table,
    },
    Case {
        name: "diagnosis",
        parts: Parts::Listed(diagnosis::PARTS),
        measure: diagnosis::measure,
        table: diagnosis::table,
    },
    Case {
        name: "predictions",
        parts: Parts::Listed(predictions::PARTS),
        measure: predictions::measure,
        table: predictions::table,
    },
    Case {
        name: "diagnosis-speed",
        parts: Parts::Listed(diagnosis_speed::PARTS),
        measure: diagnosis_speed::measure,
        table: diagnosis_speed::table,
    },
    Case {
        name: "capacity",
        parts: Parts::Listed(capacity::PARTS),
        measure: capacity::measure,
        table: capacity::table,
    },
    Case {
        name: "confirmations",
        parts: Parts::Listed(confirmations::PARTS),
        measure: confirmations::measure,
        table: confirmations::table,
    },
    Case { name: "find", parts: Parts::Listed(find::PARTS), measure: find::measure, table: find::table },
    Case {
        name: "gallery",
        parts: Parts::Described(gallery::parts),
        measure: gallery::measure,
        table: gallery::table,
    },
    Case {
        name: "gallery-sources",
        parts: Parts::Described(gallery::parts_by_sources),
        measure: gallery::measure_with_sources,
        table: gallery::table_of_sources,
    },
    Case { name: "real", parts: Parts::Listed(real::PARTS), measure: real::measure, table: real::table },
    Case {
        name: "real-ramps",
        parts: Parts::Listed(real_ramps::PARTS),
        measure: real_ramps::measure,
        table: real_ramps::table,
    },
];
