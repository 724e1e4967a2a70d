//! How long the comparison of two long runs with many series takes.

use analysis::compare::{Options, Run, Series, compare};
use model::SystemClock;
use serde_json::{Value, json};

use crate::evaluate::page::{Bar, Table};
use crate::evaluate::simulate::{self, Truth};

pub(super) const PARTS: &[&str] = &["hour"];

const SERIES: usize = 500;
const ROUNDS: usize = 5;
const SECONDS_MAX: f64 = 1.0;

pub(super) fn measure(_: &str) -> anyhow::Result<Value> {
    let truth = Truth {
        seconds: 3600,
        rate: 10.0,
        median_ms: 100.0,
        rho: 0.87,
        level_spread: 0.1,
        request_spread: 0.3,
    };
    let sides = [1, 2].map(|seed| many_series(simulate::run(&truth, seed)));
    let [a, b] = &sides;
    let mut rounds_s: Vec<f64> = Vec::new();
    let mut rows = 0;
    for _ in 0..ROUNDS {
        let start = SystemClock::now();
        rows = compare(std::slice::from_ref(a), std::slice::from_ref(b), &Options::default()).rows.len();
        rounds_s.push(SystemClock::now().ms_since(start) / 1000.0);
    }
    rounds_s.sort_by(f64::total_cmp);
    Ok(json!({ "series": SERIES, "rows": rows, "rounds_s": rounds_s, "median_s": rounds_s[ROUNDS / 2] }))
}

/// The run with its one series many times.
fn many_series(mut run: Run) -> Run {
    let sheet = run.series.remove(0).sheet;
    run.series = (0..SERIES).map(|at| Series { name: format!("GET /{at}"), sheet: sheet.clone() }).collect();
    run
}

pub(super) fn table(results: &[(&str, Value)]) -> Table {
    let titles = ["seconds a side", "series", "rows", "median of 5"];
    let mut table = Table { rows: vec![titles.map(str::to_owned).to_vec()], ..Table::default() };
    for (_, result) in results {
        let median_s = result["median_s"].as_f64().unwrap_or(f64::INFINITY);
        let (series, rows) = (result["series"].to_string(), result["rows"].to_string());
        table.rows.push(vec!["3600".into(), series, rows, format!("{median_s:.2} s")]);
        table.bars.push(Bar {
            line: format!(
                "two runs of an hour with {SERIES} series are compared in {median_s:.2} s (below 1 s)"
            ),
            reached: median_s < SECONDS_MAX,
        });
    }
    table
}
