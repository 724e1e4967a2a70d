//! The second proxy helps, and the third is of no use.

use anyhow::{Context, ensure};

use super::{Bench, number};

/// The variants, each with one proxy more.
const VARIANTS: [&str; 3] = ["one", "two", "three"];

/// How long 300 people stay, and how often each variant is measured, in turn.
const HOLD: &str = "20s";
const ROUNDS: usize = 2;

/// The least that the second proxy must add, and the most that the third may. Capacities say 1.34 and 1.
const SECOND_MIN: f64 = 1.2;
const THIRD_MAX: f64 = 1.1;

pub(super) fn check(bench: &Bench) -> anyhow::Result<()> {
    let mut best = [0.0_f64; 3];
    for round in 0..ROUNDS {
        for (variant, best) in VARIANTS.iter().zip(&mut best) {
            eprintln!("round {} of {ROUNDS}: {variant}", round + 1);
            let ingress = bench.up("ingress", variant, &[])?;
            let summary = ingress.measure("users.js", &[("DURATION", HOLD)])?;
            ingress.down()?;
            let summary = summary.with_context(|| format!("measure {variant} validly"))?;
            *best = best.max(number(&summary, "http_reqs", "rate")?);
        }
    }
    println!("| Proxies | Requests/s of 300 people |\n|---|---|");
    for (variant, best) in VARIANTS.iter().zip(&best) {
        println!("| {variant} | {best:.0} |");
    }
    let (second, third) = (best[1] / best[0], best[2] / best[1]);
    println!("\nThe second makes it {second:.2} times as much, the third {third:.2} times");
    ensure!(second >= SECOND_MIN, "see the second proxy help");
    ensure!(third < THIRD_MAX, "see the third proxy be of no use");
    Ok(())
}
