//! Many runs in order: between which of them a figure changed, and whether for the better.
//!
//! Runs are independent of each other as seconds are not, so that E-divisive applies.

use stats::{DivisiveOptions, change_points};

/// One figure over many runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    /// Its name.
    pub name: String,
    /// Whether a larger one is worse.
    pub lower_is_better: bool,
    /// One per run, in order; `None` where a run has none.
    pub values: Vec<Option<f64>>,
}

/// Which way a figure went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// For the better.
    Improved,
    /// For the worse.
    Regressed,
}

/// A change between two runs that follow each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The figure's name.
    pub name: String,
    /// The first run after the change, by its place in the order given.
    pub run: usize,
    /// The mean of the runs since the change before.
    pub before: f64,
    /// The mean of the runs until the next change.
    pub after: f64,
    /// The probability of runs without a change looking so.
    pub p_value: f64,
    /// Which way it went.
    pub direction: Direction,
}

/// The fewest runs with a figure for a change to be found in it: four on either side.
pub const RUNS_MIN: usize = 8;

/// The changes of every figure, figure by figure and in the order of the runs.
pub fn changes(figures: &[Figures]) -> Vec<Change> {
    figures.iter().flat_map(changes_of).collect()
}

fn changes_of(figures: &Figures) -> Vec<Change> {
    let known = figures.values.iter().enumerate();
    let known = known.filter_map(|(run, value)| Some((run, value.filter(|value| value.is_finite())?)));
    let (runs, values): (Vec<usize>, Vec<f64>) = known.unzip();
    let found = change_points(&values, &DivisiveOptions::default());
    let described = found.into_iter().map(|change| {
        let better = (change.after < change.before) == figures.lower_is_better;
        Change {
            name: figures.name.clone(),
            run: runs[change.at],
            before: change.before,
            after: change.after,
            p_value: change.p_value,
            direction: if better { Direction::Improved } else { Direction::Regressed },
        }
    });
    described.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(lower_is_better: bool, values: Vec<Option<f64>>) -> Figures {
        Figures { name: "p95".into(), lower_is_better, values }
    }

    /// Twenty runs around 100, the last ten around 130, one without a figure.
    fn risen() -> Vec<Option<f64>> {
        let mut values: Vec<Option<f64>> = (0..20).map(|run| Some(100.0 + f64::from(run * 7 % 5))).collect();
        values[10..].iter_mut().flatten().for_each(|value| *value += 30.0);
        values[3] = None;
        values
    }

    #[test]
    fn a_rise_is_worse_or_better() {
        for (lower_is_better, direction) in [(true, Direction::Regressed), (false, Direction::Improved)] {
            let found = changes(&[figures(lower_is_better, risen())]);
            let [change] = found.as_slice() else { panic!("one change: {found:?}") };
            assert_eq!((change.run, change.direction), (10, direction));
            assert!(change.after - change.before > 25.0, "{change:?}");
        }
    }

    #[test]
    fn few_or_no_runs_have_no_change() {
        assert_eq!(changes(&[]), []);
        assert_eq!(changes(&[figures(true, vec![Some(1.0), Some(f64::NAN), None, Some(9.0)])]), []);
        let few = [1.0, 1.0, 1.0, 9.0, 9.0, 9.0, 9.0].map(Some);
        assert!(few.len() < RUNS_MIN);
        assert_eq!(changes(&[figures(true, few.to_vec())]), []);
    }
}
