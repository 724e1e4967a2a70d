//! The figures that people draw from nGrinder's rows, each with its reading.

use crate::Figure;
use crate::ngrinder::{Row, Table};

/// One figure of a table, and which way is better.
#[derive(Clone, Debug, PartialEq)]
pub struct Indicator {
    /// Name of the indicator.
    pub name: String,
    /// Its value; `None` where the rows have none.
    pub value: Option<f64>,
    /// `ms`, `%`, `/s`; empty for a count.
    pub unit: &'static str,
    /// Whether more is better.
    pub more_is_better: bool,
    /// How to read it; empty where the name says all.
    pub note: String,
}

/// How a figure changed from one run to another.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Name of the indicator.
    pub name: String,
    /// Its unit.
    pub unit: &'static str,
    /// Before.
    pub old: Option<f64>,
    /// After.
    pub new: Option<f64>,
    /// (new / old − 1) · 100; `None` without an old value above zero.
    pub percent: Option<f64>,
    /// Whether it went the better way; `None` where it did not move or nothing can be said.
    pub is_better: Option<bool>,
}

/// The quantiles of such tables, and how many independent values each needs for a finite 95 % bound: the smallest n with
/// 1 − qⁿ ≥ 0.95.
const QUANTILES: [(f64, &str, usize); 4] =
    [(0.5, "p50", 5), (0.95, "p95", 59), (0.99, "p99", 299), (0.999, "p99.9", 2995)];

/// Every figure of a table, in the usual order.
///
/// *TPS pN* is what was reached or exceeded in N % of the intervals, so that it falls with N. *MTTFB pN* is a percentile of the
/// intervals' means. The *average difference* is the mean of |xᵢ − xᵢ₋₁|, the *average variability* the mean of
/// |xᵢ − xᵢ₋₁| / xᵢ₋₁; a second reading divides by xᵢ, which is what a difference of two rows divided by the table gives when
/// it is aligned with the later row.
pub fn indicators(rows: &[Row]) -> Vec<Indicator> {
    let (tests, errors) = (sum(rows, |row| row.tests), sum(rows, |row| row.errors));
    let tps: Vec<f64> = rows.iter().map(|row| row.tps).collect();
    let mttfb: Vec<f64> = rows.iter().filter_map(|row| row.mttfb_ms).collect();
    let mut all = vec![
        indicator("Total tests", Some(tests), "", true, String::new()),
        indicator("Errors", Some(errors), "", false, String::new()),
        indicator("Error rate", share(errors, tests + errors), "%", false, String::new()),
        indicator("TPS average", mean(&tps), "/s", true, String::new()),
    ];
    for (q, name, needed) in QUANTILES {
        let value = quantile(&tps, 1.0 - q);
        let reading =
            format!("reached or exceeded in {} % of the intervals{}", q * 100.0, too_few(tps.len(), needed));
        all.push(indicator(&format!("TPS {name}"), value, "/s", true, reading));
    }
    all.push(indicator(
        "MTTFB average",
        mean(&mttfb),
        "ms",
        false,
        "mean of the intervals' means".to_owned(),
    ));
    for (q, name, needed) in QUANTILES {
        let reading = format!("of the intervals' means, not of requests{}", too_few(mttfb.len(), needed));
        all.push(indicator(&format!("MTTFB {name}"), quantile(&mttfb, q), "ms", false, reading));
    }
    all.extend(steps(rows));
    all
}

/// The indicators of a table as figures of its run.
pub fn figures(table: &Table) -> Vec<Figure> {
    let figure = |one: Indicator| Some(Figure::new(one.name, one.value?, one.unit, &one.note));
    indicators(&table.rows).into_iter().filter_map(figure).collect()
}

/// Changes between two tables, per indicator. Both must be in the same order, as [`indicators`] gives them.
pub fn changes(old: &[Indicator], new: &[Indicator]) -> Vec<Change> {
    let change = |(old, new): (&Indicator, &Indicator)| {
        let pair = old.value.zip(new.value);
        let percent = pair.filter(|(old, _)| *old > 0.0).map(|(old, new)| (new / old - 1.0) * 100.0);
        let is_more = pair.filter(|(old, new)| old != new).map(|(old, new)| new > old);
        Change {
            name: old.name.clone(),
            unit: old.unit,
            old: old.value,
            new: new.value,
            percent,
            is_better: is_more.map(|is_more| is_more == old.more_is_better),
        }
    };
    old.iter().zip(new).map(change).collect()
}

fn indicator(
    name: &str,
    value: Option<f64>,
    unit: &'static str,
    more_is_better: bool,
    note: String,
) -> Indicator {
    Indicator { name: name.to_owned(), value, unit, more_is_better, note }
}

/// Steps from one interval to the next; those from or to an interval without a time are none.
fn steps(rows: &[Row]) -> [Indicator; 3] {
    let pairs: Vec<(f64, f64)> =
        rows.windows(2).filter_map(|pair| pair[0].mttfb_ms.zip(pair[1].mttfb_ms)).collect();
    let differences: Vec<f64> = pairs.iter().map(|(before, after)| (after - before).abs()).collect();
    let relative = |divisor: fn(&(f64, f64)) -> f64| {
        let shares = pairs.iter().filter(|pair| divisor(pair) > 0.0);
        let shares: Vec<f64> = shares.map(|pair| (pair.1 - pair.0).abs() / divisor(pair) * 100.0).collect();
        mean(&shares)
    };
    [
        indicator(
            "MTTFB average difference",
            mean(&differences),
            "ms",
            false,
            "mean step from one interval's mean to the next".to_owned(),
        ),
        indicator(
            "MTTFB average variability",
            relative(|pair| pair.0),
            "%",
            false,
            "mean step as a share of the interval before it".to_owned(),
        ),
        indicator(
            "MTTFB average variability, by the later interval",
            relative(|pair| pair.1),
            "%",
            false,
            "mean step as a share of the interval after it: what dividing rows that are off by one gives"
                .to_owned(),
        ),
    ]
}

fn sum(rows: &[Row], of: fn(&Row) -> f64) -> f64 {
    rows.iter().map(of).sum()
}

fn share(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole * 100.0)
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The quantile at rank q · (n − 1), with a line between neighbours: Hyndman and Fan's type 7, the usual one of spreadsheets
/// and data frames.
fn quantile(values: &[f64], q: f64) -> Option<f64> {
    let last = values.len().checked_sub(1)?;
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let rank = q * last as f64;
    let below = rank.floor() as usize;
    let above = (below + 1).min(last);
    Some(sorted[below] + (sorted[above] - sorted[below]) * rank.fract())
}

fn too_few(count: usize, needed: usize) -> String {
    if count >= needed {
        String::new()
    } else {
        format!("; {count} of them are too few for it, which needs {needed}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(mttfb_ms: &[Option<f64>]) -> Vec<Row> {
        let row = |(at, mttfb_ms): (i64, &Option<f64>)| Row {
            unix_ns: at * 1_000_000_000,
            vusers: None,
            tests: 10.0,
            errors: 0.0,
            tps: 10.0 + at as f64,
            mean_test_time_ms: None,
            mttfb_ms: *mttfb_ms,
        };
        (0..).zip(mttfb_ms).map(row).collect()
    }

    #[track_caller]
    fn check(rows: &[Row], name: &str, expect: Option<f64>) {
        let all = indicators(rows);
        let found = all.iter().find(|one| one.name == name).expect("a figure of that name");
        match (found.value, expect) {
            (Some(value), Some(expect)) => {
                assert!((value - expect).abs() < 1e-9, "{name}: {value}, not {expect}")
            }
            (value, expect) => assert_eq!(value, expect, "{name}"),
        }
    }

    #[test]
    fn figures_are_what_they_say() {
        let rows = rows(&[Some(100.0), Some(150.0), None, Some(50.0), Some(100.0)]);
        check(&rows, "Total tests", Some(50.0));
        check(&rows, "Error rate", Some(0.0));
        check(&rows, "TPS average", Some(12.0));
        check(&rows, "TPS p50", Some(12.0));
        check(&rows, "TPS p95", Some(10.2));
        check(&rows, "MTTFB average", Some(100.0));
        check(&rows, "MTTFB p95", Some(142.5));
        check(&rows, "MTTFB average difference", Some(50.0));
        check(&rows, "MTTFB average variability", Some(75.0));
        check(&rows, "MTTFB average variability, by the later interval", Some((100.0 / 3.0 + 50.0) / 2.0));
    }

    #[test]
    fn nothing_has_no_figures() {
        check(&[], "Error rate", None);
        check(&[], "TPS p99.9", None);
        check(&rows(&[Some(1.0)]), "MTTFB average difference", None);
        check(&rows(&[Some(0.0), Some(5.0)]), "MTTFB average variability", None);
        check(&rows(&[None, None]), "MTTFB p50", None);
    }

    #[test]
    fn quantiles_that_rows_cannot_support_say_so() {
        let note = |count: usize, name: &str| {
            let all = indicators(&rows(&vec![Some(1.0); count]));
            all.into_iter().find(|one| one.name == name).expect("a figure").note
        };
        assert!(note(580, "MTTFB p99.9").ends_with("580 of them are too few for it, which needs 2995"));
        assert_eq!(note(580, "MTTFB p99"), "of the intervals' means, not of requests");
    }

    /// Old value, new value, and the change that the table of a published comparison of one, two and three ingress pods prints
    /// for them. Two of its changes do not follow from its figures, and are corrected here.
    const PUBLISHED: &[(&str, f64, f64, f64)] = &[
        ("Total tests", 181_050.0, 240_587.0, 32.93),
        ("TPS average", 312.16, 410.55, 31.51),
        ("TPS p50", 319.0, 422.5, 32.38),
        ("TPS p95", 217.45, 288.6, 32.69),
        ("TPS p99", 132.28, 147.62, 11.62),
        ("TPS p99.9", 96.52, 37.04, -61.68),
        ("MTTFB average", 950.89, 709.86, -25.29),
        ("MTTFB p50", 919.2, 693.65, -24.54),
        ("MTTFB p95", 1322.11, 958.64, -27.49),
        ("MTTFB p99", 1833.22, 1117.45, -39.05),
        ("MTTFB p99.9", 2099.12, 1396.8, -33.54),
        ("MTTFB average difference", 112.52, 58.82, -47.66),
        ("MTTFB average variability", 10.67, 7.67, -28.09),
        ("Total tests", 240_587.0, 259_702.0, 7.94),
        ("TPS average", 410.55, 442.83, 7.86),
        ("TPS p50", 422.5, 458.0, 8.38),
        ("TPS p95", 288.6, 250.8, -13.08),
        ("TPS p99", 147.62, 119.48, -19.01),
        ("TPS p99.9", 37.04, 59.51, 60.69),
        ("MTTFB average", 709.86, 651.05, -8.30),
        ("MTTFB p50", 693.65, 631.72, -8.92),
        ("MTTFB p95", 958.64, 1017.44, 6.12),
        ("MTTFB p99", 1117.45, 1265.16, 13.22),
        ("MTTFB p99.9", 1396.8, 1407.03, 0.73),
        ("MTTFB average difference", 58.82, 88.51, 50.48),
        ("MTTFB average variability", 7.67, 11.53, 50.33),
    ];

    #[test]
    fn published_changes_are_found_again() {
        for (name, old, new, printed) in PUBLISHED {
            let one = |value| indicator(name, Some(value), "", name.starts_with('T'), String::new());
            let change = &changes(&[one(*old)], &[one(*new)])[0];
            let percent = change.percent.expect("there is an old value");
            assert!((percent - printed).abs() < 0.1, "{name}: {percent}, not {printed}");
            let is_good = (*printed > 0.0) == name.starts_with('T');
            assert_eq!(change.is_better, Some(is_good), "{name}");
        }
    }

    #[test]
    fn nothing_is_said_of_what_did_not_move_or_is_not_there() {
        let one = |value| indicator("Errors", value, "", false, String::new());
        let check = |old, new, percent, is_better| {
            let change = &changes(&[one(old)], &[one(new)])[0];
            assert_eq!((change.percent, change.is_better), (percent, is_better));
        };
        check(Some(0.0), Some(3.0), None, Some(false));
        check(Some(3.0), Some(3.0), Some(0.0), None);
        check(None, Some(3.0), None, None);
    }
}
