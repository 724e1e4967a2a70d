//! Every statistic against what independent implementations make of the same numbers: see golden/make.py.

use serde_json::Value;
use stats::*;

fn golden() -> Value {
    serde_json::from_str(include_str!("../golden/golden.json")).expect("golden values")
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(number).collect()
}

#[track_caller]
fn check(name: &str, found: f64, expect: f64, tolerance: f64) {
    let distance = (found - expect).abs();
    assert!(distance <= tolerance * expect.abs().max(1e-9), "{name}: {found} instead of {expect}");
}

/// Rows whose last number is the answer to the ones before.
fn check_rows(name: &str, tolerance: f64, answer: impl Fn(&[f64]) -> f64) {
    let golden = golden();
    let rows = golden[name].as_array().expect("rows");
    assert!(!rows.is_empty(), "{name}");
    for row in rows {
        let row = numbers(row);
        let (expect, arguments) = row.split_last().expect("an answer");
        check(&format!("{name} {arguments:?}"), answer(arguments), *expect, tolerance);
    }
}

#[test]
fn distributions() {
    check_rows("normal_quantile", 1e-8, |row| normal_quantile(row[0]));
    check_rows("student_quantile", 1e-7, |row| student_quantile(row[0], row[1]));
    check_rows("student_cdf", 1e-8, |row| student_cdf(row[0], row[1]));
    check_rows("f_tail", 1e-8, |row| f_tail(row[0], row[1], row[2]));
    check_rows("beta_quantile", 1e-6, |row| beta_quantile(row[0], row[1], row[2]));
    check_rows("kolmogorov_tail", 1e-7, |row| kolmogorov_tail(row[0]));
    check_rows("studentised_kolmogorov_tail", 1e-6, |row| studentised_kolmogorov_tail(row[0], row[1]));
    check_rows("independent_samples_min", 0.0, |row| independent_samples_min(row[0]) as f64);
}

#[test]
fn dependent_series() {
    let golden = golden();
    for series in golden["series"].as_array().expect("series") {
        let values = numbers(&series["values"]);
        for (found, expect) in autocorrelation(&values, 10).iter().zip(numbers(&series["autocorrelation"])) {
            check("autocorrelation", *found, expect, 1e-9);
        }
        let found = long_run(&[&values]);
        check("long-run variance", found.variance, number(&series["long_run"]["variance"]), 1e-6);
        check("its degrees of freedom", found.dof, number(&series["long_run"]["dof"]), 1e-6);
        check("its order", found.order as f64, number(&series["long_run"]["order"]), 0.0);
        check("block length", block_length(&values), number(&series["block_length"]), 1e-9);
        // The package looks for the last correlation that matters one lag later, which moves the length by little.
        check("block length of arch", block_length(&values), number(&series["block_length_of_arch"]), 0.1);
    }
}

#[test]
fn ranks_and_families() {
    let golden = golden();
    for pair in golden["rank_sum"].as_array().expect("pairs") {
        let found = rank_sum_p_value(&numbers(&pair["a"]), &numbers(&pair["b"]));
        check("rank sum", found, number(&pair["p"]), 1e-9);
    }
    let adjusted = adjusted_p_values(&numbers(&golden["adjusted_p_values"]["p"]));
    for (found, expect) in adjusted.iter().zip(numbers(&golden["adjusted_p_values"]["q"])) {
        check("adjusted p-value", *found, expect, 1e-12);
    }
}

#[test]
fn cuts_and_changes() {
    let golden = golden();
    let cut = mser5(&numbers(&golden["mser5"]["values"]));
    check("mser5", cut.values as f64, number(&golden["mser5"]["cut"]), 0.0);
    let found = change_points(&numbers(&golden["change_point"]["values"]), &DivisiveOptions::default());
    check("the one change", found[0].at as f64, number(&golden["change_point"]["at"]), 0.0);
    assert_eq!(found.len(), 1);
}

#[test]
fn errors() {
    let golden = golden();
    let blocks: Vec<(u64, u64)> = golden["over_dispersion"]["blocks"]
        .as_array()
        .expect("blocks")
        .iter()
        .map(numbers)
        .map(|block| (block[0] as u64, block[1] as u64))
        .collect();
    check(
        "over-dispersion",
        over_dispersion(&blocks),
        number(&golden["over_dispersion"]["dispersion"]),
        1e-9,
    );
    for case in golden["error_ratio"].as_array().expect("cases") {
        let side = |counts: &Value| {
            let counts = numbers(counts);
            ErrorSide { errors: counts[0] as u64, total: counts[1] as u64, dispersion: 1.0 }
        };
        let found = error_ratio(&side(&case["a"]), &side(&case["b"]), 0.95).expect("totals");
        check("lower bound of the ratio", found.ratio_interval.lower, number(&case["lower"]), 1e-6);
        let upper = case["upper"].as_f64().unwrap_or(f64::INFINITY);
        if upper.is_finite() {
            check("upper bound of the ratio", found.ratio_interval.upper, upper, 1e-6);
        } else {
            assert_eq!(found.ratio_interval.upper, upper);
        }
        check(
            "lower bound of the difference",
            found.difference_interval.lower,
            number(&case["difference_lower"]),
            1e-6,
        );
        check(
            "upper bound of the difference",
            found.difference_interval.upper,
            number(&case["difference_upper"]),
            1e-6,
        );
    }
}
