//! Cases of commands that make several runs, each with a Job of its own.

use std::time::Duration;

use anyhow::ensure;

use super::cases::{load, target};
use super::cluster::Bench;
use super::node::IMAGE;

pub(super) fn repeat(bench: &Bench<'_>) -> anyhow::Result<String> {
    several(bench, "run --quiet --no-page --repeat=2 --despite-no-steady-part", 2)
}

pub(super) fn interleave(bench: &Bench<'_>) -> anyhow::Result<String> {
    several(bench, "run --quiet --no-page --interleave=A=1 --repeat=1 --despite-no-steady-part", 2)
}

pub(super) fn sweep(bench: &Bench<'_>) -> anyhow::Result<String> {
    several(bench, &format!("sweep --rate=50,100 --hold=3s --warm-up=1s {SLO}"), 2)
}

pub(super) fn capacity(bench: &Bench<'_>) -> anyhow::Result<String> {
    let words =
        "capacity --rate --from=50 --to=100 --warm-up=1s --step-min=2s --step-max=4s --hold=0s --budget=2m";
    several(bench, &format!("{words} {SLO}"), 2)
}

pub(super) fn find(bench: &Bench<'_>) -> anyhow::Result<String> {
    several(bench, &format!("find --rate --from=50 --to=100 --budget=2m {SLO}"), 2)
}

/// The exit code of studies without a step that counts.
pub(super) const NOT_VALID: i32 = 120;

/// An objective that the target meets.
const SLO: &str = "--slo=http_req_duration:p(95)<5000";

/// Runs a command on two agents, and compares what was sent with what all of its runs have.
fn several(bench: &Bench<'_>, words: &str, least: usize) -> anyhow::Result<String> {
    let server = testkit::http::start();
    bench.write_script(&load(&target(&server)?, 3))?;
    let (hub, image) = (bench.hub_address()?, format!("--image={IMAGE}"));
    let own = ["script.js", "--kubernetes", "--agents=2", "--arm-timeout=60s", &hub, &image];
    let words: Vec<&str> = words.split(' ').chain(own).collect();
    let ran = bench.verb(super::servers::TESTER, &words, None)?;
    // Steps on a machine that others use are not valid, and count as unknown: their requests are counted all the same.
    ran.expect(0, "").or_else(|_| ran.expect(NOT_VALID, ""))?;
    several_agree(bench, &server, least, 2)
}

/// Compares what was sent with what the stored runs have.
pub(super) fn several_agree(
    bench: &Bench<'_>,
    server: &testkit::Server,
    least: usize,
    agents: usize,
) -> anyhow::Result<String> {
    let sent = server.settled().total;
    let runs = bench.stored_runs()?;
    let stored: u64 = runs.iter().map(|run| run.requests).sum();
    ensure!(runs.len() >= least && sent == stored, "{} runs, sent {sent}, stored {stored}", runs.len());
    ensure!(runs.iter().all(|run| run.agents == agents), "{agents} agents in each of {runs:?}");
    bench.emptied(Duration::from_secs(60))?;
    Ok(format!("{} runs on {agents} agents each, sent = stored = {sent}", runs.len()))
}
