//! The cost of evidence: CPU per request with and without all sources that a machine has, under the same load.
//!
//! The servers are those of the lab, on the core of the bench's own server. What the program asks of them, and the spans that it
//! is sent meanwhile, is done on the core of the load, so that its process pays for all of it.
//!
//! Two runs that do the same differ by a tenth and more in what a request costs, for the mood of the machine is that of the whole
//! run. So what evidence adds is counted where it is done: threads that send no load are seen to take so much more than without
//! sources, and what the threads that do send it do more, since a request of a hundred is in a trace, is counted in instructions.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context, ensure};
use model::{Clock, SystemClock};
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::bench::bars::judge;
use crate::bench::clients::Outcome;
use crate::bench::memory_latency::MemoryLatency;
use crate::bench::page::Report;
use crate::bench::process;
use crate::bench::server::CORE;
use crate::bench::stats::{estimate, median, ratio};
use crate::callgrind;

const VUS: u32 = 100;

/// The systems of the lab whose servers are asked, each with a variant that has all of its servers.
const SYSTEMS: [(&str, &str); 3] = [("appstore", "projection"), ("feed", "cached"), ("scan", "warm")];

/// Spans that the program is sent per second, and in one request.
const SPANS_PER_S: u32 = 1_000;
const SPANS_PER_REQUEST: u32 = 100;

/// Lines that are written per second to the log that it follows.
const LINES_PER_S: u32 = 100;

/// Which of the two runs when in a round: a machine that becomes slower or faster meanwhile favours neither.
const TURNS: [usize; 4] = [0, 1, 1, 0];

/// How the names of the threads begin that send the load.
const WORKERS: &str = "worker-";

/// The names of the two.
const KINDS: [&str; 2] = ["all sources", "none"];

/// The least evidence that a run must have, or it measured something else.
const SOURCES_MIN: usize = 8;

pub(super) fn run(bench: &Bench) -> anyhow::Result<Report> {
    let lab = match Lab::up(bench) {
        Ok(lab) => lab,
        Err(why) => return Ok(Report::skipped(format!("the lab's servers cannot be started: {why:#}"))),
    };
    // The first run of all pays for caches that the others find warm.
    costs(&lab, 1)?;
    let Some(traced) = traced_ratio(&lab)? else {
        return Ok(Report::skipped("valgrind is not installed, so instructions are not counted".to_owned()));
    };
    let mut cpu_us = [Vec::new(), Vec::new()];
    let mut beside_us = [Vec::new(), Vec::new()];
    let mut alike = Vec::new();
    let mut spans = 0;
    let mut memory = MemoryLatency::new(bench.patience);
    for round in 0..bench.rounds {
        memory.wait_for_calm();
        let mut sums = [Costs::default(); KINDS.len()];
        let mut without = Vec::new();
        for turn in TURNS {
            let kind = (round as usize + turn) % KINDS.len();
            let costs = costs(&lab, kind)?;
            sums[kind].add(costs);
            spans += costs.spans;
            if kind == 1 {
                without.push(costs.per_request_us(costs.cpu_s));
            }
        }
        alike.extend(without.windows(2).map(|pair| (pair[0] / pair[1]).max(pair[1] / pair[0])));
        let figures = sums.map(|costs| costs.per_request_us(costs.cpu_s));
        cpu_us.iter_mut().zip(figures).for_each(|(all, figure)| all.push(figure));
        let beside = sums.map(|costs| costs.per_request_us(costs.beside_s));
        beside_us.iter_mut().zip(beside).for_each(|(all, figure)| all.push(figure));
        bench.progress(&format!(
            "round {} of {}: {:.2} µs/request with all sources, {:.2} without; beside the load {:.3} and {:.3}",
            round + 1,
            bench.rounds,
            figures[0],
            figures[1],
            beside[0],
            beside[1]
        ));
    }
    let [with, without] = cpu_us;
    // Of each round: what threads beside the load take more, and the requests that are in traces.
    let added: Vec<f64> = (0..without.len())
        .map(|round| traced + (beside_us[0][round] - beside_us[1][round]) / without[round])
        .collect();
    let row = |kind: usize, figures: &[f64]| {
        vec![
            KINDS[kind].to_owned(),
            format!("{:.2}", median(figures)),
            format!("{:.3}", median(&beside_us[kind])),
            if kind == 0 { format!("{:+.2} %", (traced - 1.0) * 100.0) } else { String::new() },
        ]
    };
    let titles = ["evidence", "CPU µs/request", "beside the load", "instructions of the load"]
        .map(str::to_owned)
        .to_vec();
    let between = ratio(&with, &without).map_or_else(String::new, |found| {
        format!(
            " Runs with sources took {:.2} times the CPU of runs without ({:.2} to {:.2}), and two runs without any {:.2} times one \
             another's: that says nothing of a few percent.",
            found.mean,
            found.lower,
            found.upper,
            median(&alike)
        )
    });
    Ok(Report {
        rows: vec![titles, row(0, &with), row(1, &without)],
        verdicts: estimate(&added)
            .map(|found| judge("all sources against none", found))
            .into_iter()
            .collect(),
        notes: vec![format!(
            "{VUS} VUs as fast as they are answered, {} rounds of two runs each of {} s, all stored. Asked: {}; received: {} spans \
             in all, {SPANS_PER_S} a second, and 1 % of the requests in traces. A load from 4 MB of memory took {:.0} ns before \
             the rounds (median).{between}",
            bench.rounds,
            bench.seconds,
            lab.names.join(", "),
            spans,
            median(&memory.seen_ns),
        )],
    })
}

/// How many times the instructions of a request the thread that sends it takes where one of a hundred is in a trace; `None` without
/// valgrind. What is done about these traces on other threads is seen beside the load.
fn traced_ratio(lab: &Lab<'_>) -> anyhow::Result<Option<f64>> {
    if Command::new("valgrind").arg("--version").output().is_err() {
        return Ok(None);
    }
    let url = lab.bench.server.url("/list");
    let instructions = |flag: String| callgrind::instructions_of(&lab.bench.plimsoll, &url, &[flag.as_str()]);
    let traced = instructions(format!("--otlp={}", free_address()?))?;
    Ok(Some(traced.of_load / instructions("--otlp=false".to_owned())?.of_load))
}

/// The cost of runs.
#[derive(Clone, Copy, Debug, Default)]
struct Costs {
    /// User and system time of the process.
    cpu_s: f64,
    /// That of its threads that send no load.
    beside_s: f64,
    requests: f64,
    /// Spans that it was sent.
    spans: u64,
}

impl Costs {
    fn of(outcome: &Outcome, spans: u64) -> Costs {
        let threads = outcome.cost.threads_cpu_s.iter();
        let beside = threads.filter(|(name, _)| !name.starts_with(WORKERS));
        Costs {
            cpu_s: outcome.cost.cpu_s,
            beside_s: beside.map(|(_, cpu_s)| cpu_s).sum(),
            requests: outcome.requests as f64,
            spans,
        }
    }

    fn add(&mut self, more: Costs) {
        self.cpu_s += more.cpu_s;
        self.beside_s += more.beside_s;
        self.requests += more.requests;
        self.spans += more.spans;
    }

    fn per_request_us(self, seconds: f64) -> f64 {
        seconds * 1e6 / self.requests
    }
}

fn costs(lab: &Lab<'_>, kind: usize) -> anyhow::Result<Costs> {
    let bench = lab.bench;
    let mut load = bench.load("script.js", bench.server.url("/list"), VUS);
    let runs = bench.folder.join("runs");
    if runs.exists() {
        std::fs::remove_dir_all(&runs).context("remove the runs before")?;
    }
    if kind == 1 {
        load.flags = vec!["--otlp=false".to_owned()];
        let outcome = bench.plimsoll().run(&load, &bench.server, &bench.folder, |_| ())?;
        ensure!(outcome.requests > 0, "make any request without sources");
        return Ok(Costs::of(&outcome, 0));
    }
    let address = free_address()?;
    load.flags = vec![format!("--otlp={address}"), "--project".to_owned(), lab.project.display().to_string()];
    let (is_over, spans) = (AtomicBool::new(false), AtomicU64::new(0));
    let log = &lab.log;
    let outcome = std::thread::scope(|scope| {
        scope.spawn(|| send_spans(address, &is_over, &spans));
        scope.spawn(|| write_lines(log, &is_over));
        let outcome = bench.plimsoll().run(&load, &bench.server, &bench.folder, |_| ());
        is_over.store(true, Ordering::Relaxed);
        outcome
    })?;
    ensure!(outcome.requests > 0, "make any request with all sources");
    let answered = answered(&runs)?;
    ensure!(answered >= SOURCES_MIN, "collect from at least {SOURCES_MIN} sources: {answered} sent data");
    let spans = spans.load(Ordering::Relaxed);
    ensure!(spans > 0, "send any span to {address}");
    Ok(Costs::of(&outcome, spans))
}

/// How many sources reported something in the one run that there is.
fn answered(runs: &Path) -> anyhow::Result<usize> {
    let mut files = runs.read_dir().context("look for the run")?.filter_map(Result::ok);
    let is_run = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "plimsoll");
    let path = files.find_map(|file| Some(file.path()).filter(is_run)).context("find the run's file")?;
    let reader = runfile::Reader::open(&path).context("read the run")?;
    let signals = reader.signals().context("read the run's signals")?;
    let sources: std::collections::BTreeSet<&str> =
        signals.iter().map(|signal| signal.source.as_str()).collect();
    Ok(sources.len())
}

/// The systems of the lab, ended when this is dropped.
struct Lab<'a> {
    bench: &'a Bench,
    /// The file that names the sources.
    project: PathBuf,
    /// The log that is followed.
    log: PathBuf,
    names: Vec<String>,
}

impl Lab<'_> {
    fn up(bench: &Bench) -> anyhow::Result<Lab<'_>> {
        let (project, log) = (bench.folder.join("plimsoll.toml"), bench.folder.join("worker.log"));
        std::fs::write(&log, "").context("create the log")?;
        let mut lab = Lab { bench, project, log, names: Vec::new() };
        for (system, variant) in SYSTEMS {
            lab.call(&["up", system, "--variant", variant])?;
        }
        let status = lab.call(&["status", "--json"])?;
        let status: Vec<Value> = serde_json::from_slice(&status.stdout).context("read the lab's status")?;
        let sources = lab.sources(&status);
        lab.write(&sources)?;
        lab.names = sources.into_keys().collect();
        Ok(lab)
    }

    fn call(&self, words: &[&str]) -> anyhow::Result<Output> {
        let mut command = process::pinned(CORE, &self.bench.plimsoll);
        command.arg("lab").args(words).env("PLIMSOLL_LAB_DIR", self.bench.folder.join("labs"));
        let output = command.output().context("run the program")?;
        let complaint = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "run plimsoll lab {}: {}", words.join(" "), complaint.trim());
        Ok(output)
    }

    /// Evidence sources of the lab's servers, their services, this machine, and a log, by name: kind, address, password.
    fn sources(&self, status: &[Value]) -> BTreeMap<String, Settings> {
        let mut sources = BTreeMap::new();
        for system in status {
            let of_system = system["system"].as_str().unwrap_or_default();
            for (name, offer) in system["offers"].as_object().into_iter().flatten() {
                let text = |field: &str| offer[field].as_str().map(str::to_owned);
                let settings = (text("kind").unwrap_or_default(), text("address").unwrap_or_default());
                sources.insert(format!("{of_system}-{name}"), (settings.0, settings.1, text("password")));
            }
            let metrics = format!("{}/metrics", system["control_url"].as_str().unwrap_or_default());
            sources.insert(of_system.to_owned(), ("scrape".to_owned(), metrics, None));
        }
        sources.insert("host".to_owned(), ("host".to_owned(), "local".to_owned(), None));
        sources.insert("log".to_owned(), ("log".to_owned(), self.log.display().to_string(), None));
        sources
    }

    fn write(&self, sources: &BTreeMap<String, Settings>) -> anyhow::Result<()> {
        let mut text = String::new();
        for (name, (kind, address, password)) in sources {
            text.push_str(&format!("[evidence.{name}]\nkind = {kind:?}\naddress = {address:?}\n"));
            if let Some(password) = password {
                let file = self.bench.folder.join(format!("{name}.password"));
                std::fs::write(&file, password).context("write a password")?;
                text.push_str(&format!("password_file = {:?}\n", file.display().to_string()));
            }
        }
        std::fs::write(&self.project, text).context("write the sources")
    }
}

/// Kind, address and password of a source.
type Settings = (String, String, Option<String>);

impl Drop for Lab<'_> {
    fn drop(&mut self) {
        // A process that has ended need not be ended.
        let _ = self.call(&["down"]);
    }
}

fn free_address() -> anyhow::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").context("find a free port")?;
    listener.local_addr().context("read the free port")
}

/// Sends spans at an even rate, as soon as there is a receiver.
fn send_spans(to: SocketAddr, is_over: &AtomicBool, sent: &AtomicU64) {
    let pause = Duration::from_secs(1) * SPANS_PER_REQUEST / SPANS_PER_S;
    let (mut number, mut stream) = (0, None);
    while !is_over.load(Ordering::Relaxed) {
        std::thread::sleep(pause);
        number += 1;
        stream = stream.or_else(|| TcpStream::connect(to).ok());
        let taken = stream.as_mut().map(|stream| post(stream, to, &spans(number)));
        match taken {
            Some(Ok(())) => drop(sent.fetch_add(SPANS_PER_REQUEST.into(), Ordering::Relaxed)),
            // It listens not yet, or no longer.
            _ => stream = None,
        }
    }
}

/// Some traces of ten spans each, in the JSON of OTLP.
fn spans(request: u64) -> String {
    let end_ns = SystemClock.wall_unix_ns();
    let span = |place: u32| {
        let trace = request * u64::from(SPANS_PER_REQUEST) + u64::from(place / 10);
        let id = u64::from(place % 10) + 1;
        json!({
            "traceId": format!("{trace:032x}"), "spanId": format!("{id:016x}"),
            "parentSpanId": if id == 1 { String::new() } else { format!("{:016x}", 1) },
            "name": format!("step {id}"), "kind": 2,
            "startTimeUnixNano": (end_ns - 5_000_000).to_string(), "endTimeUnixNano": end_ns.to_string(),
            "attributes": [{ "key": "http.route", "value": { "stringValue": "/list" } }],
        })
    };
    let all: Vec<Value> = (0..SPANS_PER_REQUEST).map(span).collect();
    let service = json!([{ "key": "service.name", "value": { "stringValue": "bench" } }]);
    let resource = json!({ "resource": { "attributes": service }, "scopeSpans": [{ "spans": all }] });
    json!({ "resourceSpans": [resource] }).to_string()
}

fn post(stream: &mut TcpStream, to: SocketAddr, body: &str) -> std::io::Result<()> {
    let head = format!(
        "POST /v1/traces HTTP/1.1\r\nhost: {to}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())?;
    let mut answer = [0; 1024];
    let read = stream.read(&mut answer)?;
    let is_taken = answer[..read].starts_with(b"HTTP/1.1 200");
    if is_taken { Ok(()) } else { Err(std::io::Error::other("the spans were not taken")) }
}

/// Writes lines at an even rate, each of a task.
fn write_lines(path: &Path, is_over: &AtomicBool) {
    let Ok(mut file) = std::fs::OpenOptions::new().append(true).open(path) else { return };
    while !is_over.load(Ordering::Relaxed) {
        // A line that cannot be written has lost its reader.
        let _ = file.write_all(b"INFO task scan.vision succeeded in 0.45s\n");
        std::thread::sleep(Duration::from_secs(1) / LINES_PER_S);
    }
}
