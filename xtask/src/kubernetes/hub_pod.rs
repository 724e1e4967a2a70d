//! Cases of `--hub-in-cluster`: the hub is a pod, and the command shows what it prints and gets its results.

use std::time::Duration;

use anyhow::{Context, ensure};
use nix::sys::signal::Signal;

use super::cases::{load, target};
use super::cluster::{Bench, Started, eventually};
use super::node::IMAGE;
use super::servers::{STRANGER, TESTER};
use super::verbs::{NOT_VALID, several_agree};

/// Time for the end of a load whose command is gone: the hub's patience, and that of agents.
const ENDS_WITHIN: Duration = Duration::from_secs(45);

fn start(bench: &Bench<'_>, token: &str, script: &str, words: &str) -> anyhow::Result<Started> {
    bench.write_script(script)?;
    let image = format!("--image={IMAGE}");
    let own = ["script.js", "--kubernetes", "--hub-in-cluster", "--agents=3", &image];
    let words: Vec<&str> = words.split(' ').chain(own).collect();
    bench.begin(token, &words)
}

pub(super) fn whole(bench: &Bench<'_>) -> anyhow::Result<String> {
    let server = testkit::http::start();
    let script = load(&target(&server)?, 5)
        .replace("default function () {", "default function () { if (__ENV.WORD !== 'x') throw 1;");
    let words = "run --quiet -e WORD=x --summary-export=summary.json --out=csv=points.csv";
    let ran = start(bench, TESTER, &script, words)?.wait()?;
    ran.expect(0, "3 agents started within")?;
    let (sent, counted) = (server.settled().total, ran.metric("http_reqs")?);
    let iterations = ran.metric("iterations")? + ran.metric("dropped_iterations")?;
    ensure!(sent == counted && iterations == 501, "sent {sent}, counted {counted}, iterations {iterations}");
    ensure!(ran.has_file("points.csv"), "bring the export");
    let stored = several_agree(bench, &server, 1, 3)?;
    Ok(format!(
        "sent = seen = `http_reqs` = {sent}; the run file, the summary and an export are here: {stored}; nothing left"
    ))
}

pub(super) fn interrupt(bench: &Bench<'_>) -> anyhow::Result<String> {
    let server = testkit::http::start();
    let started =
        start(bench, TESTER, &load(&target(&server)?, 120), "run --quiet --summary-export=summary.json")?;
    eventually(Duration::from_secs(60), "load", || Ok(server.seen().total > 100))?;
    started.signal(Signal::SIGINT);
    let ran = started.wait()?;
    ran.expect(105, "")?;
    let (sent, counted) = (server.settled().total, ran.metric("http_reqs")?);
    ensure!(sent == counted, "sent {sent}, counted {counted}");
    several_agree(bench, &server, 1, 3)?;
    Ok(format!("105; sent = seen = {sent}, also in the run file that came back; nothing left"))
}

pub(super) fn killed(bench: &Bench<'_>) -> anyhow::Result<String> {
    let server = testkit::http::start();
    let started = start(bench, TESTER, &load(&target(&server)?, 300), "run --quiet")?;
    eventually(Duration::from_secs(60), "load", || Ok(server.seen().total > 100))?;
    started.signal(Signal::SIGKILL);
    started.wait()?;
    std::thread::sleep(ENDS_WITHIN);
    let sent = server.seen().total;
    std::thread::sleep(Duration::from_secs(2));
    ensure!(server.seen().total == sent, "the load ends within {} s", ENDS_WITHIN.as_secs());
    let gone = bench.emptied(Duration::from_secs(300))?;
    let seconds = gone + ENDS_WITHIN.as_secs_f64() + 2.0;
    Ok(format!(
        "load ends within {} s; Jobs, Secrets and pods are gone after {seconds:.0} s",
        ENDS_WITHIN.as_secs()
    ))
}

/// The pod of the hub dies while the test runs.
pub(super) fn lost(bench: &Bench<'_>) -> anyhow::Result<String> {
    let server = testkit::http::start();
    let started = start(bench, TESTER, &load(&target(&server)?, 120), "run --quiet")?;
    eventually(Duration::from_secs(60), "load", || Ok(server.seen().total > 100))?;
    let pods = bench.pods()?;
    let name = pods
        .iter()
        .filter_map(|pod| pod["metadata"]["name"].as_str())
        .find(|name| name.starts_with("plimsoll-hub-"));
    bench.cluster().kill_pod(name.context("find the hub")?);
    let ran = started.wait()?;
    ran.expect(255, "the pod of the hub failed: its pod ended with exit code 137")?;
    let gone = bench.emptied(Duration::from_secs(60))?;
    Ok(format!("255 with the exit code of the pod; nothing left after {gone:.1} s"))
}

pub(super) fn rights(bench: &Bench<'_>) -> anyhow::Result<String> {
    let script = load("http://127.0.0.1:9", 2);
    let ran = start(bench, STRANGER, &script, "run --quiet")?.wait()?;
    ran.expect(104, "plimsoll kubernetes rbac --namespace")?;
    let ran = start(bench, TESTER, &script, "run --quiet --hub-account=absent --arm-timeout=6s")?.wait()?;
    ran.expect(255, "error looking up service account case-in-cluster-rights/absent")?;
    bench.emptied(Duration::from_secs(20))?;
    Ok("104 without permissions; 255 with the name of the missing account".to_owned())
}

pub(super) fn sweep(bench: &Bench<'_>) -> anyhow::Result<String> {
    let server = testkit::http::start();
    let words = "sweep --rate=50,100 --hold=3s --warm-up=1s --slo=http_req_duration:p(95)<5000";
    let ran = start(bench, TESTER, &load(&target(&server)?, 3), words)?.wait()?;
    ran.expect(0, "").or_else(|_| ran.expect(NOT_VALID, ""))?;
    several_agree(bench, &server, 2, 3)
}
