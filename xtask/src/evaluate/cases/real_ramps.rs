//! Pairs of a ramp that do not differ, with the program itself: the demo's script against the demo's shop, each run compared with
//! the one before by `plimsoll compare`.

use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use super::generator_faults::{FIRST, command_after};
use super::real::{Server, binary};
use crate::evaluate::page::{Bar, Table};
use crate::evaluate::simulate::two_sigma;
use crate::workspace;

/// Five pairs each, so that little is lost when one is cut off.
pub(super) const PARTS: &[&str] = &["1", "2", "3", "4", "5", "6"];

const PAIRS_PER_PART: usize = 5;
const FALSE_MAX: f64 = 0.05;

pub(super) fn measure(_: &str) -> anyhow::Result<Value> {
    let (plimsoll, testkit) = (binary("PLIMSOLL_BIN")?, binary("TESTKIT_BIN")?);
    let folder = std::env::temp_dir().join(format!("plimsoll-ramps-{}", std::process::id()));
    std::fs::create_dir_all(&folder).with_context(|| format!("create {}", folder.display()))?;
    let mut server = Server::start_as("shop", FIRST, &testkit)?;
    let pairs = pairs(&plimsoll, &server.url, &folder);
    let stopped = server.stop();
    std::fs::remove_dir_all(&folder).with_context(|| format!("remove {}", folder.display()))?;
    stopped?;
    Ok(json!({ "pairs": pairs? }))
}

/// Each run after the first with the one before.
fn pairs(plimsoll: &Path, shop: &str, folder: &Path) -> anyhow::Result<Vec<Value>> {
    one_run(plimsoll, shop, folder)?;
    let pair = |pair: usize| {
        eprintln!("  pair {} of {PAIRS_PER_PART}", pair + 1);
        one_run(plimsoll, shop, folder)?;
        compared(plimsoll, folder)
    };
    (0..PAIRS_PER_PART).map(pair).collect()
}

fn one_run(plimsoll: &Path, shop: &str, folder: &Path) -> anyhow::Result<()> {
    let mut command = command_after(FIRST, plimsoll);
    command.args(["run", "--quiet", "--no-thresholds", "--env"]).arg(format!("SHOP={shop}"));
    command.arg("--runs").arg(folder).arg(workspace::root().join("examples/shop.js")).stdout(Stdio::null());
    ensure!(command.status().context("run the program")?.success(), "run the script to its end");
    Ok(())
}

fn compared(plimsoll: &Path, folder: &Path) -> anyhow::Result<Value> {
    let mut command = command_after(&[], plimsoll);
    let output = command.args(["compare", "--format", "json", "--runs"]).arg(folder).output();
    let report: Value =
        serde_json::from_slice(&output.context("compare the runs")?.stdout).context("read the comparison")?;
    let rows = report["rows"].as_array().context("find the rows")?;
    let with = |verdicts: &[&str]| -> Vec<String> {
        let is_one = |row: &&Value| row["verdict"].as_str().is_some_and(|it| verdicts.contains(&it));
        let name = |row: &Value| format!("{} {}", text(&row["series"]), text(&row["figure"]));
        rows.iter().filter(is_one).map(name).collect()
    };
    Ok(json!({
        "sentence": report["sentence"],
        "changed": with(&["improved", "regressed"]),
        "equivalent": with(&["equivalent"]).len(),
        "inconclusive": with(&["inconclusive"]).len(),
    }))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

pub(super) fn table(results: &[(&str, Value)]) -> Table {
    let pairs: Vec<&Value> =
        results.iter().filter_map(|(_, result)| result["pairs"].as_array()).flatten().collect();
    let changed =
        pairs.iter().filter(|pair| pair["changed"].as_array().is_some_and(|rows| !rows.is_empty())).count();
    let sum = |key: &str| pairs.iter().filter_map(|pair| pair[key].as_u64()).sum::<u64>();
    let titles = ["pairs", "any row: changed", "rows: equivalent", "rows: inconclusive"];
    let numbers =
        [pairs.len() as u64, changed as u64, sum("equivalent"), sum("inconclusive")].map(|n| n.to_string());
    let all = pairs.len() as f64;
    let bar = Bar {
        line: format!("{changed} of {all} real pairs of a ramp have a false change (at most 5 % + 2 σ)"),
        reached: changed as f64 / all.max(1.0) <= FALSE_MAX + two_sigma(FALSE_MAX, all.max(1.0)),
    };
    Table {
        rows: vec![titles.map(str::to_owned).to_vec(), numbers.to_vec()],
        bars: vec![bar],
        ..Table::default()
    }
}
