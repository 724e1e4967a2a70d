//! Laws: what follows from figures without any judgement. One file each, with its source.
//!
//! A law that speaks by itself has a function from facts to [`Derived`] in [`LAWS`]; the others serve rules.

pub mod change;
pub mod demand;
pub mod dependence;
pub mod errors;
pub mod little;
pub mod retransmission;
pub mod shift;
pub mod slots;
pub mod sweep;

use model::Derived;

use crate::audit::{Facts, Run};

/// Derives what it can from the facts.
pub type Law = fn(&Facts) -> Vec<Derived>;

/// All laws that speak by themselves.
pub const LAWS: &[Law] = &[
    change::derive,
    little::derive,
    shift::derive,
    errors::derive,
    demand::derive,
    sweep::derive,
    slots::derive,
];

/// Rows of one table that laws look at; they are about loads and versions, of which there are few.
pub const ROWS_MAX: usize = 1_000;

/// Everything that follows from the facts.
pub fn derive(facts: &Facts) -> Vec<Derived> {
    LAWS.iter().flat_map(|law| law(facts)).collect()
}

/// The name of the table of a place: rows of one table have it in common.
pub(crate) fn table_of(place: &str) -> &str {
    place.rsplit_once(", row ").map_or(place, |(table, _)| table)
}

/// Rows by their table, in the order of the tables.
fn by_table<T>(rows: &[T], place: impl Fn(&T) -> &str) -> Vec<&[T]> {
    rows.chunk_by(|a, b| table_of(place(a)) == table_of(place(b)))
        .map(|rows| &rows[..rows.len().min(ROWS_MAX)])
        .collect()
}

/// The results of a law for each run and the one before it in its table.
fn neighbours(runs: &[Run], of_pair: impl Fn(&Run, &Run) -> Option<Derived>) -> Vec<Derived> {
    let tables = by_table(runs, |run| &run.place);
    let pairs = tables.into_iter().flat_map(|runs| runs.windows(2));
    pairs.filter_map(|pair| of_pair(&pair[0], &pair[1])).collect()
}

#[cfg(test)]
pub(crate) mod testing {
    use model::{Derived, FigureLabel, FigureValue};

    /// The first figure with this label.
    #[track_caller]
    pub(crate) fn figure(derived: &[Derived], label: &FigureLabel) -> f64 {
        let figures = derived.iter().flat_map(|it| &it.figures);
        let values = figures.filter(|figure| figure.label == *label).map(|figure| &figure.value);
        let mut numbers = values.filter_map(|value| match value {
            FigureValue::Number { value, .. } => Some(*value),
            FigureValue::Text(_) => None,
        });
        numbers.next().unwrap_or_else(|| panic!("{label:?} is among {derived:#?}"))
    }

    /// That a figure is what it should be, to half of the last digit given.
    #[track_caller]
    pub(crate) fn close(found: f64, expect: f64, within: f64) {
        assert!((found - expect).abs() <= within, "{found} is not {expect} ± {within}");
    }
}
