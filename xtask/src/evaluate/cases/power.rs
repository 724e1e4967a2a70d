//! Three runs of five minutes a side, the second side a tenth slower: how often that is seen.

use analysis::compare::{Measure, Options, Run, Verdict, compare};
use anyhow::Context;
use serde_json::{Value, json};
use stats::normal_cdf;

use crate::evaluate::page::{Bar, Table};
use crate::evaluate::simulate::{self, Truth};

/// The lag-1 correlation and the standard deviation of the logarithm of the level.
pub(super) const PARTS: &[&str] =
    &["0-0.2", "0.5-0.2", "0.7-0.1", "0.7-0.2", "0.87-0.1", "0.87-0.2", "0.9-0.1", "0.9-0.2"];

/// The part that the requirement is judged by; the others show where it holds and where nothing could.
const REQUIRED: &str = "0.87-0.1";

const TRIALS: usize = 300;
const RUNS: u64 = 3;
const SHIFT: f64 = 1.1;
const POWER_MIN: f64 = 0.8;

pub(super) fn measure(part: &str) -> anyhow::Result<Value> {
    let (rho, level_spread) = part.split_once('-').context("read the part")?;
    let truth = Truth {
        seconds: 300,
        rate: 20.0,
        median_ms: 100.0,
        rho: rho.parse().context("read the correlation")?,
        level_spread: level_spread.parse().context("read the spread")?,
        request_spread: 0.3,
    };
    let trials = simulate::each(TRIALS, |trial| judge(&truth, trial as u64));
    let count = |is: &dyn Fn(&Trial) -> bool| trials.iter().filter(|trial| is(trial)).count();
    Ok(json!({
        "trials": TRIALS,
        "truth": format!("{truth:?}"),
        "judged": count(&|trial| trial.covered.is_some()),
        "regressed": count(&|trial| trial.verdict == Some(Verdict::Regressed)),
        "improved": count(&|trial| trial.verdict == Some(Verdict::Improved)),
        "covered": count(&|trial| trial.covered == Some(true)),
        "known_variance_power": known_variance_power(&truth),
    }))
}

/// The verdict on the p95 of one trial.
struct Trial {
    verdict: Option<Verdict>,
    covered: Option<bool>,
}

fn judge(truth: &Truth, trial: u64) -> Trial {
    let side = |truth: &Truth, first: u64| -> Vec<Run> {
        (0..RUNS).map(|run| simulate::run(truth, 1_000_000 + trial * 2 * RUNS + first + run)).collect()
    };
    let slower = Truth { median_ms: truth.median_ms * SHIFT, ..*truth };
    let comparison = compare(&side(truth, 0), &side(&slower, RUNS), &Options::default());
    let row = comparison.rows.iter().find(|row| row.measure == Measure::Quantile(0.95));
    Trial {
        verdict: row.map(|row| row.verdict),
        covered: row
            .and_then(|row| row.ratio)
            .map(|ratio| ratio.interval.lower <= SHIFT && SHIFT <= ratio.interval.upper),
    }
}

/// The power of a test that knew the levels and their variance: no method that must estimate them has more.
fn known_variance_power(truth: &Truth) -> f64 {
    let seconds = truth.seconds as f64 * RUNS as f64;
    let worth = seconds * (1.0 - truth.rho) / (1.0 + truth.rho);
    let error = truth.level_spread * (2.0 / worth).sqrt();
    normal_cdf(SHIFT.ln() / error - 1.96)
}

pub(super) fn table(results: &[(&str, Value)]) -> Table {
    let titles = [
        "lag-1 correlation",
        "spread of the level",
        "trials",
        "p95: regressed",
        "p95: improved",
        "p95: covered",
        "known variance: power",
    ];
    let mut table = Table { rows: vec![titles.map(str::to_owned).to_vec()], ..Table::default() };
    for (part, result) in results {
        let number = |key: &str| result[key].as_f64().unwrap_or(0.0);
        let percent = |share: f64| format!("{:.1} %", 100.0 * share);
        let (rho, spread) = part.split_once('-').unwrap_or((part, ""));
        let power = number("regressed") / number("trials");
        table.rows.push(vec![
            rho.to_owned(),
            spread.to_owned(),
            number("trials").to_string(),
            percent(power),
            percent(number("improved") / number("trials")),
            percent(number("covered") / number("judged").max(1.0)),
            percent(number("known_variance_power")),
        ]);
        if *part == REQUIRED {
            table.bars.push(Bar {
                line: format!(
                    "a p95 that is 10 % higher is seen in {:.1} % of trials at correlation {rho} and spread {spread} (at \
                     least 80 %)",
                    100.0 * power
                ),
                reached: power >= POWER_MIN,
            });
        }
    }
    table
}
