//! Three runs a side that do not differ on average, while each run has a level of its own: how often a change is claimed.

use analysis::compare::{Measure, Options, Run, Verdict, compare};
use anyhow::Context;
use serde_json::{Value, json};
use stats::Random;

use crate::evaluate::page::{Bar, Table};
use crate::evaluate::simulate::{self, Truth};

/// The standard deviation of the logarithm of a run's level.
pub(super) const PARTS: &[&str] = &["0", "0.01", "0.02", "0.05", "0.1"];

const TRIALS: usize = 500;
const RUNS: u64 = 3;
const COVERAGE: (f64, f64) = (0.92, 0.97);

pub(super) fn measure(part: &str) -> anyhow::Result<Value> {
    let spread: f64 = part.parse().context("read the spread of the runs")?;
    let truth = Truth {
        seconds: 300,
        rate: 20.0,
        median_ms: 100.0,
        rho: 0.7,
        level_spread: 0.1,
        request_spread: 0.3,
    };
    let trials = simulate::each(TRIALS, |trial| judge(&truth, spread, trial as u64));
    let count = |is: &dyn Fn(&Trial) -> bool| trials.iter().filter(|trial| is(trial)).count();
    Ok(json!({
        "trials": TRIALS,
        "truth": format!("{truth:?}"),
        "judged": count(&|trial| trial.covered.is_some()),
        "covered": count(&|trial| trial.covered == Some(true)),
        "any_changed": count(&|trial| trial.any_changed),
    }))
}

struct Trial {
    covered: Option<bool>,
    any_changed: bool,
}

fn judge(truth: &Truth, spread: f64, trial: u64) -> Trial {
    let mut random = Random::new(3_000_000 + trial);
    let mut side = |first: u64| -> Vec<Run> {
        let seeds = (0..RUNS).map(|run| 2_000_000 + trial * 2 * RUNS + first + run);
        let runs = seeds.map(|seed| {
            let level = (spread * random.normal()).exp();
            simulate::run(&Truth { median_ms: truth.median_ms * level, ..*truth }, seed)
        });
        runs.collect()
    };
    let comparison = compare(&side(0), &side(RUNS), &Options::default());
    let p95 = comparison.rows.iter().find(|row| row.measure == Measure::Quantile(0.95));
    Trial {
        covered: p95
            .and_then(|row| row.ratio)
            .map(|ratio| ratio.interval.lower <= 1.0 && 1.0 <= ratio.interval.upper),
        any_changed: comparison
            .rows
            .iter()
            .any(|row| matches!(row.verdict, Verdict::Improved | Verdict::Regressed)),
    }
}

pub(super) fn table(results: &[(&str, Value)]) -> Table {
    let titles = ["spread between runs", "trials", "p95: judged", "p95: covered", "any row: changed"];
    let mut table = Table { rows: vec![titles.map(str::to_owned).to_vec()], ..Table::default() };
    for (spread, result) in results {
        let number = |key: &str| result[key].as_f64().unwrap_or(0.0);
        let covered = number("covered") / number("judged").max(1.0);
        table.rows.push(vec![
            (*spread).to_owned(),
            number("trials").to_string(),
            number("judged").to_string(),
            format!("{:.1} %", 100.0 * covered),
            format!("{:.1} %", 100.0 * number("any_changed") / number("trials").max(1.0)),
        ]);
        table.bars.push(Bar {
            line: format!(
                "runs that differ by {spread}: the p95's interval covers the truth in {:.1} % (92 to 97 %)",
                100.0 * covered
            ),
            reached: (COVERAGE.0..=COVERAGE.1).contains(&covered),
        });
    }
    table
}
