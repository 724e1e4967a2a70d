//! The cases: one file and one line each.

mod between_runs;
mod capacity;
mod confirmations;
mod diagnosis;
mod diagnosis_speed;
mod false_changes;
mod generator_faults;
mod power;
mod predictions;
mod real;
mod speed;
mod steady;

use super::Case;

pub(super) use real::binary;

/// How long a part of a case takes, about, seconds; none where it is not long.
pub(super) fn part_s(case: &str) -> Option<f64> {
    match case {
        "diagnosis" => Some(diagnosis::CASE_S),
        "predictions" => Some(predictions::CASE_S),
        "confirmations" => Some(confirmations::CASE_S),
        _ => None,
    }
}

pub(super) const ALL: &[Case] = &[
    Case { name: "steady", parts: steady::PARTS, measure: steady::measure, table: steady::table },
    Case {
        name: "false-changes",
        parts: false_changes::PARTS,
        measure: false_changes::measure,
        table: false_changes::table,
    },
    Case { name: "power", parts: power::PARTS, measure: power::measure, table: power::table },
    Case {
        name: "between-runs",
        parts: between_runs::PARTS,
        measure: between_runs::measure,
        table: between_runs::table,
    },
    Case { name: "speed", parts: speed::PARTS, measure: speed::measure, table: speed::table },
    Case {
        name: "generator-faults",
        parts: generator_faults::PARTS,
        measure: generator_faults::measure,
        table: generator_faults::table,
    },
    Case { name: "diagnosis", parts: diagnosis::PARTS, measure: diagnosis::measure, table: diagnosis::table },
    Case {
        name: "predictions",
        parts: predictions::PARTS,
        measure: predictions::measure,
        table: predictions::table,
    },
    Case {
        name: "diagnosis-speed",
        parts: diagnosis_speed::PARTS,
        measure: diagnosis_speed::measure,
        table: diagnosis_speed::table,
    },
    Case { name: "capacity", parts: capacity::PARTS, measure: capacity::measure, table: capacity::table },
    Case {
        name: "confirmations",
        parts: confirmations::PARTS,
        measure: confirmations::measure,
        table: confirmations::table,
    },
    Case { name: "real", parts: real::PARTS, measure: real::measure, table: real::table },
];
