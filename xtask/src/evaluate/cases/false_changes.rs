//! Pairs of runs that do not differ: how often each method says that they do.

use analysis::compare::{Measure, Options, Row, Verdict, compare};
use anyhow::Context;
use serde_json::{Value, json};
use stats::{Resampling, block_length, bootstrap_difference, rank_sum_p_value};

use crate::evaluate::page::{Bar, Table};
use crate::evaluate::simulate::{self, Truth, two_sigma};

/// Lag-1 correlations.
pub(super) const PARTS: &[&str] = &["0", "0.5", "0.7", "0.87", "0.9"];

const PAIRS: usize = 1000;

/// The false findings that are allowed.
const FALSE_MAX: f64 = 0.05;

/// The range in which the coverage of a 95 % interval must lie.
const COVERAGE: (f64, f64) = (0.92, 0.97);

/// The figures whose intervals are looked at.
const MEASURES: &[(&str, Measure)] = &[
    ("mean", Measure::Mean),
    ("p50", Measure::Quantile(0.5)),
    ("p95", Measure::Quantile(0.95)),
    ("p99", Measure::Quantile(0.99)),
];

pub(super) fn measure(part: &str) -> anyhow::Result<Value> {
    let rho: f64 = part.parse().context("read the correlation")?;
    let truth =
        Truth { seconds: 600, rate: 20.0, median_ms: 100.0, rho, level_spread: 0.2, request_spread: 0.3 };
    let pairs = simulate::each(PAIRS, |pair| judge(&truth, pair as u64));
    let count = |is: &dyn Fn(&Pair) -> bool| pairs.iter().filter(|pair| is(pair)).count();
    let mut measures = serde_json::Map::new();
    for (at, (name, _)) in MEASURES.iter().enumerate() {
        let value = json!({
            "judged": count(&|pair| pair.rows[at].judged),
            "covered": count(&|pair| pair.rows[at].covered),
            "changed": count(&|pair| pair.rows[at].changed),
            "equivalent": count(&|pair| pair.rows[at].equivalent),
        });
        measures.insert((*name).to_owned(), value);
    }
    Ok(json!({
        "pairs": PAIRS,
        "truth": format!("{truth:?}"),
        "unsteady": count(&|pair| !pair.steady),
        "any_changed": count(&|pair| pair.any_changed),
        "measures": measures,
        "rank_sum_changed": count(&|pair| pair.rank_sum_changed),
        "independent_bootstrap_covered": count(&|pair| pair.independent_covered),
        "block_bootstrap_covered": count(&|pair| pair.blocks_covered),
    }))
}

/// The verdicts of the methods on one pair.
#[derive(Clone, Debug)]
struct Pair {
    steady: bool,
    any_changed: bool,
    rows: Vec<Judged>,
    rank_sum_changed: bool,
    independent_covered: bool,
    blocks_covered: bool,
}

/// The comparison's verdict on one figure.
#[derive(Clone, Copy, Debug, Default)]
struct Judged {
    judged: bool,
    covered: bool,
    changed: bool,
    equivalent: bool,
}

fn judge(truth: &Truth, pair: u64) -> Pair {
    let (a, b) = (simulate::run(truth, 2 * pair + 1), simulate::run(truth, 2 * pair + 2));
    let (means_a, means_b) = (a.series[0].sheet.means(), b.series[0].sheet.means());
    let comparison = compare(&[a], &[b], &Options::default());
    let has_changed = |row: &Row| matches!(row.verdict, Verdict::Improved | Verdict::Regressed);
    let judged = |measure: &Measure| {
        let row = comparison.rows.iter().find(|row| row.measure == *measure);
        let Some((row, ratio)) = row.and_then(|row| Some((row, row.ratio?))) else {
            return Judged::default();
        };
        Judged {
            judged: true,
            covered: ratio.interval.lower <= 1.0 && 1.0 <= ratio.interval.upper,
            changed: has_changed(row),
            equivalent: row.verdict == Verdict::Equivalent,
        }
    };
    let covered = |blocks| {
        let resampling = Resampling { replicates: 499, blocks, confidence: 0.95, seed: pair };
        let interval = bootstrap_difference(&means_a, &means_b, &resampling);
        interval.is_some_and(|interval| interval.lower <= 0.0 && 0.0 <= interval.upper)
    };
    let length = |means: &[f64]| block_length(means).ceil() as usize;
    Pair {
        steady: comparison
            .steady_a
            .iter()
            .chain(&comparison.steady_b)
            .all(|steady| steady.seconds().is_some()),
        any_changed: comparison.rows.iter().any(has_changed),
        rows: MEASURES.iter().map(|(_, measure)| judged(measure)).collect(),
        rank_sum_changed: rank_sum_p_value(&means_a, &means_b) < 0.05,
        independent_covered: covered((1, 1)),
        blocks_covered: covered((length(&means_a), length(&means_b))),
    }
}

pub(super) fn table(results: &[(&str, Value)]) -> Table {
    let titles = [
        "lag-1 correlation",
        "pairs",
        "no steady part",
        "mean: covered",
        "p50: covered",
        "p95: covered",
        "p99: covered (judged)",
        "p95: changed",
        "any row: changed",
        "rank sum on seconds: changed",
        "independent bootstrap: covered",
        "studentised block bootstrap: covered",
    ];
    let mut table = Table { rows: vec![titles.map(str::to_owned).to_vec()], ..Table::default() };
    for (rho, result) in results {
        let number = |value: &Value| value.as_f64().unwrap_or(0.0);
        let pairs = number(&result["pairs"]);
        let percent = |count: f64, of: f64| format!("{:.1} %", 100.0 * count / of.max(1.0));
        let share = |key: &str| percent(number(&result[key]), pairs);
        let of = |measure: &str, key: &str| number(&result["measures"][measure][key]);
        let covered = |measure: &str| percent(of(measure, "covered"), of(measure, "judged"));
        table.rows.push(vec![
            (*rho).to_owned(),
            pairs.to_string(),
            share("unsteady"),
            covered("mean"),
            covered("p50"),
            covered("p95"),
            format!("{} ({})", covered("p99"), of("p99", "judged")),
            percent(of("p95", "changed"), pairs),
            share("any_changed"),
            share("rank_sum_changed"),
            share("independent_bootstrap_covered"),
            share("block_bootstrap_covered"),
        ]);
        let wrong = number(&result["any_changed"]) / pairs;
        table.bars.push(Bar {
            line: format!(
                "correlation {rho}: a change in any of a pair's rows is claimed in {:.1} % of pairs (at most 5 % + 2 σ)",
                100.0 * wrong
            ),
            reached: wrong <= FALSE_MAX + two_sigma(FALSE_MAX, pairs),
        });
        for measure in ["mean", "p95"] {
            let covered = of(measure, "covered") / of(measure, "judged").max(1.0);
            table.bars.push(Bar {
                line: format!(
                    "correlation {rho}: the {measure}'s interval covers the truth in {:.1} % (92 to 97 %)",
                    100.0 * covered
                ),
                reached: (COVERAGE.0..=COVERAGE.1).contains(&covered),
            });
        }
    }
    table
}
