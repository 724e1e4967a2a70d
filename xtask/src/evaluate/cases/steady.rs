//! How often a run without a change is refused for having no steady part, and how often one with a change is.

use analysis::steady::{Steady, Unsteady, steady_part};
use anyhow::Context;
use serde_json::{Value, json};
use stats::Random;

use crate::evaluate::page::{Bar, Table};
use crate::evaluate::simulate;

/// The lag-1 correlation and how long the run is, seconds.
pub(super) const PARTS: &[&str] = &[
    "0-300", "0.5-300", "0.7-300", "0.87-300", "0.9-300", "0-600", "0.5-600", "0.7-600", "0.87-600",
    "0.9-600",
];

const RUNS: usize = 5_000;

/// The standard deviation of the logarithm of the level.
const SPREAD: f64 = 0.1;

/// That of a second's mean about its level: twenty requests a second that spread by 0.3.
const NOISE: f64 = 0.067;

/// A fifth more from the middle of the run on.
const STEP: f64 = 1.2;

/// Twice the level at the start, and 1/e of the rest after so many seconds each.
const WARM_UP: f64 = 2.0;
const WARM_UP_S: f64 = 10.0;

/// A half more at the end than at the start, evenly.
const DRIFT: f64 = 1.5;

const REFUSED_MAX: f64 = 0.005;

pub(super) fn measure(part: &str) -> anyhow::Result<Value> {
    let (rho, seconds) = part.split_once('-').context("read the part")?;
    let rho: f64 = rho.parse().context("read the correlation")?;
    let seconds: usize = seconds.parse().context("read the length")?;
    let change = |name: &str, level: &(dyn Fn(f64) -> f64 + Sync)| {
        let found = simulate::each(RUNS, |run| steady_part(&levels(rho, seconds, run as u64, level)));
        let count = |is: &dyn Fn(&Steady) -> bool| found.iter().filter(|steady| is(steady)).count();
        let is_shift = |steady: &Steady| matches!(steady, Steady::Never(Unsteady::LevelShift { .. }));
        let is_warming = |steady: &Steady| matches!(steady, Steady::Never(Unsteady::StillWarmingUp));
        let kept: usize = found.iter().filter_map(Steady::seconds).map(|seconds| seconds.len()).sum();
        let judged = count(&|steady| steady.seconds().is_some());
        json!({
            "change": name,
            "level_shift": count(&is_shift),
            "still_warming_up": count(&is_warming),
            "cut": count(&|steady| steady.seconds().is_some_and(|seconds| seconds.start > 0)),
            "kept_share": kept as f64 / (judged * seconds).max(1) as f64,
        })
    };
    Ok(json!({
        "runs": RUNS,
        "changes": [
            change("none", &|_| 1.0),
            change("step", &|at| if at < 0.5 { 1.0 } else { STEP }),
            change("drift", &|at| 1.0 + (DRIFT - 1.0) * at),
            change("warm-up", &|at| 1.0 + (WARM_UP - 1.0) * (-at * seconds as f64 / WARM_UP_S).exp()),
        ],
    }))
}

/// A run's levels: a log-normal autoregression with noise, times what changes, given how much of the run is over.
fn levels(rho: f64, seconds: usize, seed: u64, change: &(dyn Fn(f64) -> f64 + Sync)) -> Vec<f64> {
    let mut random = Random::new(seed);
    let mut level = random.normal();
    let next = |second: usize| {
        level = rho * level + (1.0 - rho * rho).sqrt() * random.normal();
        let spread = SPREAD * level + NOISE * random.normal();
        change(second as f64 / seconds as f64) * spread.exp()
    };
    (0..seconds).map(next).collect()
}

pub(super) fn table(results: &[(&str, Value)]) -> Table {
    let titles = [
        "lag-1 correlation",
        "seconds",
        "runs",
        "no change: refused",
        "no change: cut",
        "no change: kept of the others",
        "20 % step: refused",
        "20 % step: cut",
        "50 % drift: refused",
        "50 % drift: cut",
        "warm-up: cut or refused",
    ];
    let mut table = Table { rows: vec![titles.map(str::to_owned).to_vec()], ..Table::default() };
    for (part, result) in results {
        let (rho, seconds) = part.split_once('-').unwrap_or((part, ""));
        let runs = result["runs"].as_f64().unwrap_or(0.0);
        let of = |change: usize, key: &str| result["changes"][change][key].as_f64().unwrap_or(0.0);
        let refused = |change| (of(change, "level_shift") + of(change, "still_warming_up")) / runs.max(1.0);
        let percent = |share: f64| format!("{:.1} %", 100.0 * share);
        table.rows.push(vec![
            rho.to_owned(),
            seconds.to_owned(),
            runs.to_string(),
            format!("{:.2} %", 100.0 * refused(0)),
            percent(of(0, "cut") / runs.max(1.0)),
            percent(of(0, "kept_share")),
            percent(refused(1)),
            percent(of(1, "cut") / runs.max(1.0)),
            percent(refused(2)),
            percent(of(2, "cut") / runs.max(1.0)),
            percent(refused(3) + of(3, "cut") / runs.max(1.0)),
        ]);
        table.bars.push(Bar {
            line: format!(
                "correlation {rho}, {seconds} s: {:.2} % of the runs that do not change are refused (at most 0.5 % + 2 σ)",
                100.0 * refused(0)
            ),
            reached: refused(0) <= REFUSED_MAX + simulate::two_sigma(REFUSED_MAX, runs.max(1.0)),
        });
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_shares_of_all_runs() {
        let change = |shifts, warming, cut| json!({ "level_shift": shifts, "still_warming_up": warming, "cut": cut, "kept_share": 0.5 });
        let changes = [change(1, 1, 4), change(90, 0, 8), change(80, 10, 7), change(0, 5, 90)];
        let table = table(&[("0.9-300", json!({ "runs": 100, "changes": changes }))]);
        assert_eq!(
            table.rows[1],
            [
                "0.9", "300", "100", "2.00 %", "4.0 %", "50.0 %", "90.0 %", "8.0 %", "90.0 %", "7.0 %",
                "95.0 %"
            ]
        );
        assert!(!table.bars[0].reached);
    }

    #[test]
    fn levels_wander_about_what_changes() {
        let levels = levels(0.5, 1_000, 1, &|at| if at < 0.5 { 1.0 } else { 3.0 });
        let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
        let (before, after) = (mean(&levels[..500]), mean(&levels[500..]));
        assert!((2.8..3.2).contains(&(after / before)), "{before} {after}");
    }
}
