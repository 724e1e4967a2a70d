//! The app store's variants rank as in their story while none is overloaded.

use anyhow::{Context, ensure};

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

pub(super) fn check(bench: &Bench) -> anyhow::Result<()> {
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
