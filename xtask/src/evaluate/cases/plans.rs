//! Pairs that went through the same plan of varying load: how often a change is claimed where nothing differs, and seen where
//! something does.

use analysis::compare::{Measure, Options, Row, Run, Verdict, compare};
use anyhow::Context;
use serde_json::{Value, json};

use crate::evaluate::page::{Bar, Table};
use crate::evaluate::simulate::{self, Shape, Truth, two_sigma};

/// The question, the shape, the lag-1 correlation and the standard deviation of the logarithm of the level.
pub(super) const PARTS: &[&str] = &[
    "same-ramp-0-0.2",
    "same-ramp-0.5-0.2",
    "same-ramp-0.87-0.2",
    "same-spike-0-0.2",
    "same-spike-0.5-0.2",
    "same-spike-0.87-0.2",
    "same-stages-0-0.2",
    "same-stages-0.5-0.2",
    "same-stages-0.87-0.2",
    "tenth-ramp-0-0.1",
    "tenth-ramp-0.5-0.1",
    "tenth-ramp-0.87-0.1",
    "tenth-ramp-0.87-0.05",
    "double-flat-0-0.1",
    "double-flat-0.5-0.1",
    "double-flat-0.87-0.1",
    "double-ramp-0-0.1",
    "double-ramp-0.5-0.1",
    "double-ramp-0.87-0.1",
    "double-spike-0-0.1",
    "double-spike-0.5-0.1",
    "double-spike-0.87-0.1",
    "double-stages-0-0.1",
    "double-stages-0.5-0.1",
    "double-stages-0.87-0.1",
    "short-flat-0-0.1",
    "short-flat-0.5-0.1",
    "short-flat-0.87-0.1",
    "short-ramp-0-0.1",
    "short-ramp-0.5-0.1",
    "short-ramp-0.87-0.1",
    "short-spike-0-0.1",
    "short-spike-0.5-0.1",
    "short-spike-0.87-0.1",
    "short-stages-0-0.1",
    "short-stages-0.5-0.1",
    "short-stages-0.87-0.1",
];

/// The false findings that are allowed.
const FALSE_MAX: f64 = 0.05;

/// The range in which the coverage of a 95 % interval must lie.
const COVERAGE: (f64, f64) = (0.92, 0.97);

/// How often a tenth must be seen.
const POWER_MIN: f64 = 0.8;

/// The 97.5 % quantile of the normal distribution.
const NORMAL_97_5: f64 = 1.96;

/// How often a factor of 2 must be seen.
const DOUBLE_MIN: f64 = 0.99;

/// A comparison with known truth.
#[derive(Clone, Copy)]
struct Question {
    name: &'static str,
    /// By how much the second side is slower.
    shift: f64,
    runs: u64,
    seconds: usize,
    /// Requests per second at the peak.
    rate: f64,
    pairs: usize,
}

const QUESTIONS: [Question; 4] = [
    Question { name: "same", shift: 1.0, runs: 1, seconds: 600, rate: 40.0, pairs: 1000 },
    Question { name: "tenth", shift: 1.1, runs: 3, seconds: 180, rate: 40.0, pairs: 300 },
    Question { name: "double", shift: 2.0, runs: 1, seconds: 30, rate: 100.0, pairs: 1000 },
    Question { name: "short", shift: 1.0, runs: 1, seconds: 30, rate: 100.0, pairs: 1000 },
];

/// Seeds of other cases are not used again.
const SEED: u64 = 50_000_000;

pub(super) fn measure(part: &str) -> anyhow::Result<Value> {
    let words: Vec<&str> = part.split('-').collect();
    let [name, shape, rho, level_spread] = words[..] else { anyhow::bail!("read the part {part:?}") };
    let question =
        QUESTIONS.iter().find(|question| question.name == name).context("find what is compared")?;
    let shape = Shape::parse(shape).context("read the shape")?;
    let truth = Truth {
        seconds: question.seconds,
        rate: question.rate,
        median_ms: 100.0,
        rho: rho.parse().context("read the correlation")?,
        level_spread: level_spread.parse().context("read the spread")?,
        request_spread: 0.3,
    };
    let pairs = simulate::each(question.pairs, |pair| judge(question, &truth, shape, pair as u64));
    let count = |is: &dyn Fn(&Pair) -> bool| pairs.iter().filter(|pair| is(pair)).count();
    Ok(json!({
        "pairs": question.pairs,
        "truth": format!("{truth:?}"),
        "any_changed": count(&|pair| pair.any_changed),
        "any_worse": count(&|pair| pair.any_worse),
        "mean_worse": count(&|pair| pair.mean.is_worse),
        "p95_worse": count(&|pair| pair.p95.is_worse),
        "mean_judged": count(&|pair| pair.mean.covered.is_some()),
        "mean_covered": count(&|pair| pair.mean.covered == Some(true)),
        "p95_judged": count(&|pair| pair.p95.covered.is_some()),
        "p95_covered": count(&|pair| pair.p95.covered == Some(true)),
        "mean_worse_if_noise_were_known": worse_if_noise_were_known(&pairs),
    }))
}

/// The pairs whose mean a two-sided test at 5 % would find worse if it knew how much the ratio of means varies from pair to pair.
fn worse_if_noise_were_known(pairs: &[Pair]) -> usize {
    let logs: Vec<f64> = pairs.iter().filter_map(|pair| Some(pair.mean.ratio?.ln())).collect();
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (logs.len() as f64 - 1.0);
    logs.iter().filter(|log| **log > NORMAL_97_5 * variance.sqrt()).count()
}

struct Pair {
    any_changed: bool,
    any_worse: bool,
    mean: Judged,
    p95: Judged,
}

#[derive(Clone, Copy, Default)]
struct Judged {
    is_worse: bool,
    ratio: Option<f64>,
    /// Whether the interval holds the true ratio.
    covered: Option<bool>,
}

fn judge(question: &Question, truth: &Truth, shape: Shape, pair: u64) -> Pair {
    let side = |truth: &Truth, first: u64| -> Vec<Run> {
        let seed = SEED + pair * 2 * question.runs + first;
        (0..question.runs).map(|run| simulate::planned_run(truth, shape, seed + run)).collect()
    };
    let slower = Truth { median_ms: truth.median_ms * question.shift, ..*truth };
    let comparison = compare(&side(truth, 0), &side(&slower, question.runs), &Options::default());
    let judged = |measure: Measure| {
        let row = comparison.rows.iter().find(|row| row.measure == measure);
        row.map_or_else(Judged::default, |row| Judged {
            is_worse: row.verdict == Verdict::Regressed,
            ratio: row.ratio.map(|ratio| ratio.ratio),
            covered: row.ratio.map(|ratio| {
                ratio.interval.lower <= question.shift && question.shift <= ratio.interval.upper
            }),
        })
    };
    let has_changed = |row: &Row| matches!(row.verdict, Verdict::Improved | Verdict::Regressed);
    Pair {
        any_changed: comparison.rows.iter().any(has_changed),
        any_worse: comparison.has_regressed(),
        mean: judged(Measure::Mean),
        p95: judged(Measure::Quantile(0.95)),
    }
}

pub(super) fn table(results: &[(&str, Value)]) -> Table {
    let titles = [
        "what differs",
        "plan",
        "lag-1 correlation",
        "spread of the level",
        "pairs",
        "mean: covered",
        "p95: covered (judged)",
        "mean: regressed",
        "p95: regressed",
        "any row: changed",
    ];
    let mut table = Table { rows: vec![titles.map(str::to_owned).to_vec()], ..Table::default() };
    for (part, result) in results {
        let words: Vec<&str> = part.split('-').collect();
        let [name, shape, rho, spread] = words[..] else { continue };
        let number = |key: &str| result[key].as_f64().unwrap_or(0.0);
        let share = |key: &str, of: &str| number(key) / number(of).max(1.0);
        let percent = |share: f64| format!("{:.1} %", 100.0 * share);
        let question = match name {
            "same" => "nothing, 1 × 10 min",
            "tenth" => "10 %, 3 × 3 min",
            "short" => "nothing, 1 × 30 s",
            _ => "factor 2, 1 × 30 s",
        };
        table.rows.push(vec![
            question.to_owned(),
            shape.to_owned(),
            rho.to_owned(),
            spread.to_owned(),
            number("pairs").to_string(),
            percent(share("mean_covered", "mean_judged")),
            format!("{} ({})", percent(share("p95_covered", "p95_judged")), number("p95_judged")),
            percent(share("mean_worse", "pairs")),
            percent(share("p95_worse", "pairs")),
            percent(share("any_changed", "pairs")),
        ]);
        let line = format!("{shape}, correlation {rho}, spread {spread}");
        table.bars.extend(bars(name, &line, &share, number("pairs")));
    }
    table
}

fn bars(name: &str, line: &str, share: &dyn Fn(&str, &str) -> f64, pairs: f64) -> Vec<Bar> {
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    match name {
        "same" => {
            let changed = share("any_changed", "pairs");
            let covered = |measure: &str| {
                let covered = share(&format!("{measure}_covered"), &format!("{measure}_judged"));
                Bar {
                    line: format!(
                        "{line}: the {measure}'s interval covers the truth in {} (92 to 97 %)",
                        percent(covered)
                    ),
                    reached: (COVERAGE.0..=COVERAGE.1).contains(&covered),
                }
            };
            let claimed = Bar {
                line: format!(
                    "{line}: a change is claimed in {} of pairs that do not differ (at most 5 % + 2 σ)",
                    percent(changed)
                ),
                reached: changed <= FALSE_MAX + two_sigma(FALSE_MAX, pairs),
            };
            vec![claimed, covered("mean"), covered("p95")]
        }
        "short" => {
            let changed = share("any_changed", "pairs");
            vec![Bar {
                line: format!(
                    "{line}: a change is claimed in {} of pairs of 30 s that do not differ (at most 5 % + 2 σ)",
                    percent(changed)
                ),
                reached: changed <= FALSE_MAX + two_sigma(FALSE_MAX, pairs),
            }]
        }
        "tenth" => {
            let seen = share("any_worse", "pairs");
            let known = share("mean_worse_if_noise_were_known", "pairs");
            vec![Bar {
                line: format!(
                    "{line}: latency that is 10 % higher is seen in {} of 3 × 3 min (at least 80 %; the mean by a test that knows the noise: {})",
                    percent(seen),
                    percent(known)
                ),
                reached: seen >= POWER_MIN,
            }]
        }
        _ => {
            let seen = share("any_worse", "pairs");
            vec![Bar {
                line: format!(
                    "{line}: a factor of 2 is seen in {} of pairs of 30 s (at least 99 %)",
                    percent(seen)
                ),
                reached: seen >= DOUBLE_MIN,
            }]
        }
    }
}
