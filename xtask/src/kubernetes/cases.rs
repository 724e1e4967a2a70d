//! The cases: each says what it shows, and gives what it found.

use std::time::Duration;

use anyhow::{Context, ensure};
use nix::sys::signal::Signal;
use serde_json::json;

use super::cluster::{Bench, eventually};
use super::network::Network;
use super::servers::{STRANGER, TESTER};
use super::{hub_pod, verbs};

/// A case with a namespace of its own.
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) says: &'static str,
    pub(super) run: fn(&Bench<'_>) -> anyhow::Result<String>,
}

/// All cases, one function each.
pub(super) const CASES: &[Case] = &[
    Case { name: "whole", says: "3 agents, 100 iterations/s for 5 s", run: whole },
    Case { name: "manifest", says: "`plimsoll kubernetes manifest --dry-run=server`", run: manifest },
    Case { name: "doctor", says: "`plimsoll doctor --kubernetes`", run: doctor },
    Case { name: "rights", says: "a user without permissions", run: rights },
    Case { name: "quota", says: "a quota of no pods", run: quota },
    Case { name: "image", says: "an image that does not exist", run: image },
    Case { name: "nodes", says: "6 agents of one core each on a node of 4 cores", run: nodes },
    Case { name: "oom", says: "agents above their memory limit", run: oom },
    Case { name: "killed", says: "`kill -9` of one of 3 agents", run: killed },
    Case { name: "evicted", says: "eviction of one of 3 agents, `--on-agent-loss rebalance`", run: evicted },
    Case { name: "deleted", says: "the Job is deleted by someone else", run: deleted },
    Case { name: "interrupt", says: "Ctrl-C", run: interrupt },
    Case { name: "repeat", says: "`--repeat 2`", run: verbs::repeat },
    Case { name: "interleave", says: "`--interleave A=1 --repeat 1`", run: verbs::interleave },
    Case { name: "sweep", says: "`plimsoll sweep` of 2 rates", run: verbs::sweep },
    Case { name: "capacity", says: "`plimsoll capacity`", run: verbs::capacity },
    Case { name: "find", says: "`plimsoll find`", run: verbs::find },
    Case {
        name: "in-cluster",
        says: "`--hub-in-cluster`, 3 agents, 100 iterations/s for 5 s",
        run: hub_pod::whole,
    },
    Case { name: "in-cluster-sweep", says: "`plimsoll sweep --hub-in-cluster`", run: hub_pod::sweep },
    Case { name: "in-cluster-interrupt", says: "`--hub-in-cluster`, Ctrl-C", run: hub_pod::interrupt },
    Case { name: "in-cluster-lost", says: "`--hub-in-cluster`, `kill -9` of the hub", run: hub_pod::lost },
    Case {
        name: "in-cluster-killed",
        says: "`--hub-in-cluster`, `kill -9` of the command",
        run: hub_pod::killed,
    },
    Case {
        name: "in-cluster-rights",
        says: "`--hub-in-cluster` without permissions, or without the account",
        run: hub_pod::rights,
    },
    Case { name: "node-loss", says: "loss of a node with one of 4 agents", run: node_loss },
    Case { name: "hub-killed", says: "`kill -9` of the hub", run: hub_killed },
];

/// A script with an arrival rate of 100 per second against a target.
pub(super) fn load(target: &str, seconds: u32) -> String {
    format!(
        "import http from 'k6/http';
        export const options = {{ scenarios: {{ a: {{ executor: 'constant-arrival-rate', rate: 100, timeUnit: '1s',
            duration: '{seconds}s', preAllocatedVUs: 12, maxVUs: 24 }} }} }};
        export default function () {{ http.get('{target}/'); }}"
    )
}

pub(super) fn target(server: &testkit::Server) -> anyhow::Result<String> {
    let address = server.url("").trim_start_matches("http://").trim_end_matches('/').to_owned();
    let address = Network::relay(address.parse().context("read the target's address")?)?;
    Ok(format!("http://{address}"))
}

fn whole(bench: &Bench<'_>) -> anyhow::Result<String> {
    let server = testkit::http::start();
    let ran = bench.recorded("whole", TESTER, &load(&target(&server)?, 5), &["--agents=3"])?;
    ran.expect(0, "3 agents started within")?;
    let (sent, counted) = (server.settled().total, ran.metric("http_reqs")?);
    let iterations = ran.metric("iterations")? + ran.metric("dropped_iterations")?;
    ensure!(sent == counted && iterations == 501, "sent {sent}, counted {counted}, iterations {iterations}");
    let skew = ran
        .text
        .split("started within ")
        .nth(1)
        .and_then(|rest| rest.split([',', '"', '\n']).next())
        .unwrap_or_default();
    let gone = bench.emptied(Duration::from_secs(40))?;
    Ok(format!(
        "sent = seen = `http_reqs` = {sent}; started within {skew}; {:.0} s in all; nothing left after {gone:.1} s",
        ran.seconds
    ))
}

fn manifest(bench: &Bench<'_>) -> anyhow::Result<String> {
    let words = [
        "kubernetes",
        "manifest",
        "--agents=20",
        "--image=plimsoll:test",
        "--hub-address=10.0.0.5:7000",
        "--dry-run=server",
    ];
    let ran = bench.verb(TESTER, &words, Some("manifest"))?;
    ran.expect(0, "the server accepts the Job plimsoll-agents (dry run)")?;
    ensure!(bench.count("/apis/batch/v1", "jobs")? == 0, "create nothing");
    Ok("the server accepts it; nothing is created".to_owned())
}

fn doctor(bench: &Bench<'_>) -> anyhow::Result<String> {
    let words = ["doctor", "--kubernetes", "--agents=3", "--image=plimsoll:test"];
    let ran = bench.verb(TESTER, &words, Some("doctor"))?;
    ran.expect(0, "the server accepts the Job of 3 agents (dry run)")?;
    let with_hub: Vec<&str> = words.into_iter().chain(["--hub-in-cluster"]).collect();
    bench.verb(TESTER, &with_hub, None)?.expect(0, "pods/proxy: create")?;
    let refused = bench.verb(STRANGER, &words, Some("doctor-stranger"))?;
    refused.expect(255, "no permission to create, get, delete them")?;
    let admin = bench.verb(super::servers::ADMIN, &words, Some("doctor-admin"))?;
    admin.expect(0, "1 of 1 nodes usable")?;
    Ok("0 with the printed Role; 255 without it, with each missing permission".to_owned())
}

fn rights(bench: &Bench<'_>) -> anyhow::Result<String> {
    let ran = bench.recorded("rights", STRANGER, &load("http://127.0.0.1:9", 2), &["--agents=3"])?;
    ran.expect(104, "plimsoll kubernetes rbac --namespace case-rights")?;
    bench.emptied(Duration::from_secs(5))?;
    Ok("104 with the command that prints the Role".to_owned())
}

fn quota(bench: &Bench<'_>) -> anyhow::Result<String> {
    let spec = json!({"hard": {"pods": "0"}});
    let object =
        json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "none"}, "spec": spec});
    let path = format!("/api/v1/namespaces/{}/resourcequotas", bench.namespace);
    bench.api.create(&path, &object)?;
    eventually(Duration::from_secs(20), "the quota", || {
        Ok(bench.api.get(&format!("{path}/none"))?["status"]["hard"]["pods"] == "0")
    })?;
    let ran = bench.recorded(
        "quota",
        TESTER,
        &load("http://127.0.0.1:9", 2),
        &["--agents=3", "--arm-timeout=6s"],
    )?;
    ran.expect(
        255,
        "0 of 3 agents were ready after 6 s (--arm-timeout): 3 of 3 agents wait: the pod cannot be created: ",
    )?;
    ran.expect(255, "exceeded quota: none")?;
    let gone = bench.emptied(Duration::from_secs(40))?;
    Ok(format!("255 after {:.0} s, with the quota's name; nothing left after {gone:.1} s", ran.seconds))
}

fn image(bench: &Bench<'_>) -> anyhow::Result<String> {
    let flags = ["--agents=3", "--arm-timeout=8s", "--image=registry.invalid/plimsoll:none"];
    let ran = bench.recorded("image", TESTER, &load("http://127.0.0.1:9", 2), &flags)?;
    ran.expect(255, "3 of 3 agents wait: the image registry.invalid/plimsoll:none cannot be pulled: ")?;
    let gone = bench.emptied(Duration::from_secs(40))?;
    Ok(format!(
        "255 after {:.0} s, with the image and the reason; nothing left after {gone:.1} s",
        ran.seconds
    ))
}

fn nodes(bench: &Bench<'_>) -> anyhow::Result<String> {
    let server = testkit::http::start();
    let script = load(&target(&server)?, 3);
    let ran = bench.recorded("nodes", TESTER, &script, &["--agents=6", "--arm-timeout=8s"])?;
    ran.expect(255, "2 of 6 agents wait: no node fits: ")?;
    bench.emptied(Duration::from_secs(40))?;
    let fewer = bench.start(&script, &["--agents=6", "--agents-min=4", "--arm-timeout=8s"])?.wait()?;
    fewer.expect(0, "no node fits")?;
    let (sent, counted) = (server.settled().total, fewer.metric("http_reqs")?);
    let iterations = fewer.metric("iterations")? + fewer.metric("dropped_iterations")?;
    ensure!(sent == counted && iterations == 301, "sent {sent}, counted {counted}, iterations {iterations}");
    bench.emptied(Duration::from_secs(40))?;
    Ok(format!(
        "255 with the scheduler's reason; `--agents-min 4` runs the whole test on 4: sent = seen = {sent}"
    ))
}

fn oom(bench: &Bench<'_>) -> anyhow::Result<String> {
    let script =
        "const big = new Uint8Array(300e6).fill(1); export const options = { vus: 2, iterations: 2 };
        export default () => { big[0]; };";
    let flags =
        ["--agents=2", "--agent-memory=128Mi", "--vu-memory=1GiB", "--memory=8GiB", "--arm-timeout=60s"];
    let ran = bench.recorded("oom", TESTER, script, &flags)?;
    ran.expect(255, "out of memory (OOMKilled) with 128Mi")?;
    let gone = bench.emptied(Duration::from_secs(60))?;
    Ok(format!("255 after {:.0} s, with the limit; nothing left after {gone:.1} s", ran.seconds))
}

fn killed(bench: &Bench<'_>) -> anyhow::Result<String> {
    let server = testkit::http::start();
    let started = bench.start(&load(&target(&server)?, 40), &["--agents=3"])?;
    eventually(Duration::from_secs(60), "load", || Ok(server.seen().total > 300))?;
    let pods = bench.pods()?;
    let name = pods[0]["metadata"]["name"].as_str().context("find a pod")?;
    bench.cluster().kill_pod(name);
    let ran = started.wait()?;
    ran.expect(0, "was lost: its pod ended with exit code 137")?;
    ran.expect(0, " continues ")?;
    let (done, dropped) = (ran.metric("iterations")?, ran.metric("dropped_iterations")?);
    ensure!(done + dropped == 4001 && dropped > 0, "{done} done, {dropped} dropped");
    bench.emptied(Duration::from_secs(40))?;
    Ok(format!("the index is retried and its new agent continues; {done} started + {dropped} dropped = plan"))
}

fn evicted(bench: &Bench<'_>) -> anyhow::Result<String> {
    let server = testkit::http::start();
    let started = bench.start(&load(&target(&server)?, 30), &["--agents=3", "--on-agent-loss=rebalance"])?;
    eventually(Duration::from_secs(60), "load", || Ok(server.seen().total > 300))?;
    let pods = bench.pods()?;
    let name = pods[0]["metadata"]["name"].as_str().context("find a pod")?;
    let eviction = json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": bench.namespace}});
    bench.api.create(&format!("/api/v1/namespaces/{}/pods/{name}/eviction", bench.namespace), &eviction)?;
    let ran = started.wait()?;
    ran.expect(0, "")?;
    let (done, dropped) = (ran.metric("iterations")?, ran.metric("dropped_iterations")?);
    let (sent, counted) = (server.settled().total, ran.metric("http_reqs")?);
    ensure!(
        done + dropped == 3001 && sent == counted,
        "{done} done, {dropped} dropped, sent {sent}, counted {counted}"
    );
    bench.emptied(Duration::from_secs(40))?;
    Ok(format!("sent = seen = `http_reqs` = {sent}; {done} started + {dropped} dropped = plan"))
}

fn deleted(bench: &Bench<'_>) -> anyhow::Result<String> {
    let server = testkit::http::start();
    let started = bench.start(&load(&target(&server)?, 60), &["--agents=2"])?;
    eventually(Duration::from_secs(60), "load", || Ok(server.seen().total > 100))?;
    let jobs = format!("/apis/batch/v1/namespaces/{}/jobs", bench.namespace);
    let name = bench.api.list(&jobs)?[0]["metadata"]["name"].as_str().context("find the Job")?.to_owned();
    bench.api.delete(&format!("{jobs}/{name}?propagationPolicy=Background"))?;
    let ran = started.wait()?;
    // The order may reach its pods first.
    let by_job = "was deleted by someone else, so its agents ended before the test did";
    ran.expect(255, by_job).or_else(|_| ran.expect(255, "every agent left before the end of the test"))?;
    let (sent, counted) = (server.settled().total, ran.metric("http_reqs")?);
    ensure!(sent == counted, "sent {sent}, counted {counted}");
    bench.emptied(Duration::from_secs(60))?;
    Ok(format!("its agents hand over and leave: sent = seen = {sent}; 255 with the reason"))
}

fn interrupt(bench: &Bench<'_>) -> anyhow::Result<String> {
    let server = testkit::http::start();
    let started = bench.start(&load(&target(&server)?, 60), &["--agents=3"])?;
    eventually(Duration::from_secs(60), "load", || Ok(server.seen().total > 100))?;
    started.signal(Signal::SIGINT);
    let ran = started.wait()?;
    ran.expect(105, "")?;
    let (sent, counted) = (server.settled().total, ran.metric("http_reqs")?);
    ensure!(sent == counted, "sent {sent}, counted {counted}");
    let gone = bench.emptied(Duration::from_secs(40))?;
    Ok(format!("105; sent = seen = {sent}; nothing left after {gone:.1} s"))
}

fn node_loss(bench: &Bench<'_>) -> anyhow::Result<String> {
    let server = testkit::http::start();
    bench.cluster().add_node("node-b")?;
    let started = bench.start(&load(&target(&server)?, 40), &["--agents=4"])?;
    eventually(Duration::from_secs(60), "load", || Ok(server.seen().total > 300))?;
    let pods = bench.pods()?;
    let on_b = pods.iter().filter(|pod| pod["spec"]["nodeName"] == "node-b").count();
    ensure!(on_b > 0 && on_b < 4, "spread 4 pods over 2 nodes: {on_b} are on the second");
    bench.cluster().kill_node("node-b");
    let ran = started.wait()?;
    ran.expect(0, "nothing was heard from it for 15 s")?;
    let (done, dropped) = (ran.metric("iterations")?, ran.metric("dropped_iterations")?);
    ensure!(done + dropped == 4001 && dropped > 0, "{done} done, {dropped} dropped");
    // The pods of a node without power go with the node.
    bench.api.delete("/api/v1/nodes/node-b")?;
    let gone = bench.emptied(Duration::from_secs(120))?;
    Ok(format!(
        "{on_b} of 4 agents lost; {done} started + {dropped} dropped = plan; nothing left {gone:.0} s after the node's removal"
    ))
}

fn hub_killed(bench: &Bench<'_>) -> anyhow::Result<String> {
    let server = testkit::http::start();
    let started = bench.start(&load(&target(&server)?, 300), &["--agents=3"])?;
    eventually(Duration::from_secs(60), "load", || Ok(server.seen().total > 100))?;
    started.signal(Signal::SIGKILL);
    started.wait()?;
    std::thread::sleep(Duration::from_secs(10));
    let sent = server.seen().total;
    std::thread::sleep(Duration::from_secs(2));
    ensure!(server.seen().total == sent, "the load ends within 10 s");
    let gone = bench.emptied(Duration::from_secs(300))?;
    Ok(format!("load ends within 10 s; Job, Secret and pods are gone {:.0} s after the hub", gone + 12.0))
}
