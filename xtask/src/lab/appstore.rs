//! The app store's variants rank as in their story: by their response time while none is overloaded, and by how much load is safe.

use anyhow::{Context, ensure};
use serde_json::Value;

use super::{Bench, number};

/// The variants of the app store, each cheaper than the one before.
const VARIANTS: [&str; 3] = ["two-queries", "projection", "matview"];

/// How many times slower a variant is than the next, at the least.
const RATIO_MIN: f64 = 1.2;

/// Requests per second that every variant bears, and for how long.
const RATE: &str = "8";
const HOLD: &str = "30s";

/// Each variant is measured so often, in turn, so that what changes meanwhile meets all of them.
const ROUNDS: usize = 3;

/// The objectives of the app store's story: fast, and without an error.
const SLOS: [&str; 2] = ["http_req_duration: p(95)<=800", "http_req_failed: rate==0"];

/// The search for the safe load of a variant: short levels, and no more of them than two and a half minutes of load.
const SEARCH: &str =
    "--rate --from 8 --to 2000 --warm-up 2s --step-min 6s --step-max 15s --hold 0s --budget 150s";

pub(super) fn check(bench: &Bench) -> anyhow::Result<()> {
    check_times(bench)?;
    check_safe_loads(bench)
}

/// The highest rate that keeps what the story asks for grows from variant to variant.
fn check_safe_loads(bench: &Bench) -> anyhow::Result<()> {
    println!("\n| Variant | Safe load, requests/s | between |\n|---|---|---|");
    let mut lines = Vec::new();
    for variant in VARIANTS {
        let line = safe_load(bench, variant)?.with_context(|| format!("measure {variant} validly"))?;
        println!("| {variant} | {:.1} | {:.1} and {:.1} |", line.0, line.1, line.2);
        lines.push(line);
    }
    for (names, pair) in VARIANTS.windows(2).zip(lines.windows(2)) {
        ensure!(pair[0].0 < pair[1].0, "see {} bear less than {}", names[0], names[1]);
    }
    Ok(())
}

/// The maximum load of a variant and its bounds; nothing where no level was valid.
fn safe_load(bench: &Bench, variant: &str) -> anyhow::Result<Option<(f64, f64, f64)>> {
    let store = bench.up("appstore", variant, &["--refresh", "10"])?;
    let slos = SLOS.iter().flat_map(|slo| ["--slo", *slo]);
    let flags: Vec<&str> = SEARCH.split(' ').chain(slos).collect();
    let found = store.capacity("first-page.js", &flags)?;
    store.down()?;
    let Some(found) = found else { return Ok(None) };
    let line = &found["parts"][0]["line"];
    let number = |value: &Value| value.as_f64();
    let load = number(&line["load"]["value"]).context("find the maximum load")?;
    let lower = number(&line["interval"]["lower"]).unwrap_or(0.0);
    Ok(Some((load, lower, number(&line["interval"]["upper"]).unwrap_or(f64::INFINITY))))
}

fn check_times(bench: &Bench) -> anyhow::Result<()> {
    let mut means_ms: [Vec<f64>; 3] = Default::default();
    let mut excluded = 0;
    for round in 0..ROUNDS {
        for (variant, means_ms) in VARIANTS.iter().zip(&mut means_ms) {
            eprintln!("round {} of {ROUNDS}: {variant}", round + 1);
            let mean_ms = mean_ms(bench, variant)?;
            excluded += usize::from(mean_ms.is_none());
            means_ms.extend(mean_ms);
        }
    }
    println!("| Variant | Mean response time at {RATE} requests/s | Runs |\n|---|---|---|");
    let mut middles_ms = Vec::new();
    for (variant, means_ms) in VARIANTS.iter().zip(&mut means_ms) {
        means_ms.sort_by(f64::total_cmp);
        let middle_ms =
            *means_ms.get(means_ms.len() / 2).with_context(|| format!("measure {variant} validly"))?;
        println!("| {variant} | {middle_ms:.2} ms | {} |", means_ms.len());
        middles_ms.push(middle_ms);
    }
    println!("\nLeft out because they were not valid: {excluded}");
    for (names, middles) in VARIANTS.windows(2).zip(middles_ms.windows(2)) {
        let ratio = middles[0] / middles[1];
        println!("{} takes {ratio:.2} times as long as {}", names[0], names[1]);
        ensure!(ratio >= RATIO_MIN, "see {} take {RATIO_MIN} times as long as {}", names[0], names[1]);
    }
    Ok(())
}

/// The mean response time of a variant in milliseconds; nothing where no run was valid.
fn mean_ms(bench: &Bench, variant: &str) -> anyhow::Result<Option<f64>> {
    let store = bench.up("appstore", variant, &["--refresh", "10"])?;
    let summary = store.measure("first-page.js", &[("RATE", RATE), ("HOLD", HOLD)])?;
    store.down()?;
    let Some(summary) = summary else { return Ok(None) };
    let failed = number(&summary, "http_req_failed", "value")?;
    ensure!(failed == 0.0, "have every request answered: {failed} of them failed");
    number(&summary, "http_req_duration", "avg").map(Some)
}
