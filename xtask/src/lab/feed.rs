//! The feed collapses under a spike, and its cache helps less the higher the load.

use anyhow::{Context, ensure};

use super::{Bench, number};

/// People, as many as the post's load, stress and spike end with.
const PEOPLE: [u32; 3] = [300, 1200, 4200];

/// How long they stay, in seconds.
const HOLD_S: u32 = 30;

/// How long each thinks after an answer, in seconds.
const THINKING_S: f64 = 1.0;

/// How long it takes until all have come, in seconds: the script spreads them over a round of four requests.
const ARRIVAL_S: f64 = 4.0 * THINKING_S;

/// The requests that a cache can answer. A like takes as long as its counter is locked, with or without a cache, and would hide the
/// gain while no request waits.
const PAGES: &str = "http_req_duration{method:GET}";

/// The service time of one worker predicts 2.2; the rest allows for overhead of the machine.
const COLLAPSE_MIN: f64 = 1.4;

/// How many times more the cache takes off than at the next load. The service time says 1.8 and 2.
const GAIN_RATIO_MIN: f64 = 1.15;

/// The result of a run.
#[derive(Clone, Copy, Debug)]
struct Point {
    requests_per_s: f64,
    response_s: f64,
}

pub(super) fn check(bench: &Bench) -> anyhow::Result<()> {
    let (plain, cached) = (points(bench, "plain")?, points(bench, "cached")?);
    println!("| People | plain | cached | the cache takes off |\n|---|---|---|---|");
    let mut gains = Vec::new();
    for ((people, plain), cached) in PEOPLE.iter().zip(&plain).zip(&cached) {
        let gain = 1.0 - cached.response_s / plain.response_s;
        println!(
            "| {people} | {:.0}/s, {:.2} s | {:.0}/s, {:.2} s | {:.0} % |",
            plain.requests_per_s,
            plain.response_s,
            cached.requests_per_s,
            cached.response_s,
            gain * 100.0
        );
        gains.push(gain);
    }
    for (name, points) in [("plain", &plain), ("cached", &cached)] {
        let collapse = points[1].requests_per_s / points[2].requests_per_s;
        println!("{name}: {} people get {collapse:.2} times as much as {}", PEOPLE[1], PEOPLE[2]);
        ensure!(collapse >= COLLAPSE_MIN, "see {name} collapse {COLLAPSE_MIN} times");
    }
    ensure!(cached[1].requests_per_s > cached[0].requests_per_s, "see 1200 people get more than 300");
    for (people, gains) in PEOPLE.windows(2).zip(gains.windows(2)) {
        let is_less = gains[0] >= GAIN_RATIO_MIN * gains[1];
        ensure!(is_less, "see the cache help {} people less than {}", people[1], people[0]);
    }
    Ok(())
}

fn points(bench: &Bench, variant: &str) -> anyhow::Result<Vec<Point>> {
    let feed = bench.up("feed", variant, &[])?;
    let points = PEOPLE.iter().map(|people| {
        eprintln!("{variant}: {people} people");
        let (vus, hold) = (people.to_string(), format!("{HOLD_S}s"));
        // Answers that come after the hold would count as if they had come in it.
        let variables = [("VUS", vus.as_str()), ("DURATION", hold.as_str()), ("GRACE", "0s")];
        let summary = feed.measure("steady.js", &variables)?;
        let summary = summary.with_context(|| format!("measure {variant} with {people} people validly"))?;
        let requests_per_s = number(&summary, "checks", "passes")? / f64::from(HOLD_S);
        // The mean does not hold those who still wait at the end; Little's law does, but knows the thinking only roughly.
        let mean_s = number(&summary, PAGES, "avg")? / 1e3;
        let there = f64::from(*people) * (1.0 - ARRIVAL_S / 2.0 / f64::from(HOLD_S));
        let response_s = mean_s.max(there / requests_per_s - THINKING_S);
        Ok(Point { requests_per_s, response_s })
    });
    let points: anyhow::Result<Vec<Point>> = points.collect();
    feed.down()?;
    points
}
