//! The scanner's story: its queues fill one after the other and drain, users wait for answers and not for the service, the way of
//! a scan is the sum of its parts, and twice as many workers do twice as much.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, ensure};
use model::SystemClock;

use super::{Bench, Up, number, until_valid};

/// The queues, in the order in which a scan goes through them.
const QUEUES: [&str; 4] = ["scan.vision", "scan.rule", "scan.answer", "scan.reward"];

/// How often the queues are looked at.
const PERIOD: Duration = Duration::from_millis(200);

/// The queues are empty so soon after the last user has gone.
const DRAIN_LIMIT: Duration = Duration::from_secs(10);

/// A queue has filled when it holds so many; there are 500 users.
const FILLED: f64 = 100.0;

/// How many times over its limit the wait for answers is, at the least.
const OVER_MIN: f64 = 1.5;

/// How many times as much four workers do as two, at the least; by their slots it is twice.
const WORKERS_RATIO_MIN: f64 = 1.5;

/// The seed's limit for an answer, as much shorter as everything is.
const ANSWER_LIMIT_MS: f64 = 3000.0;

/// How far the parts of a scan's way are from what its users have waited, as a share of that, at the most.
const PARTS_OFF_MAX: f64 = 0.02;

/// The report's title for the tasks' time.
const WAY_TITLE: &str = "Task latency from submission to result";

/// A queue over time: seconds since the load began, and messages.
type Depths = Vec<(f64, f64)>;

pub(super) fn check(bench: &Bench) -> anyhow::Result<()> {
    queues_fill_in_order(bench)?;
    a_ceiling_costs_half(bench)
}

fn queues_fill_in_order(bench: &Bench) -> anyhow::Result<()> {
    let lab = bench.up("scan", "cold", &[])?;
    let measured = until_valid(|| {
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let watching = scope.spawn(|| watch(&lab, &is_over));
            let kept = lab.run_kept("polling.js");
            is_over.store(true, Ordering::Relaxed);
            let depths = watching.join().expect("no panic")?;
            Ok(kept?.map(|kept| (kept, depths)))
        })
    })?;
    let ((summary, run), depths) = measured.context("measure the queues validly")?;
    println!("\n| Queue | Filled after | Most messages | At the end |\n|---|---|---|---|");
    let mut before_s = 0.0;
    for (queue, depths) in QUEUES.iter().zip(&depths) {
        let filled = depths.iter().find(|(_, depth)| *depth >= FILLED);
        let (filled_s, _) = filled.with_context(|| format!("see {queue} fill"))?;
        let most = depths.iter().map(|(_, depth)| *depth).fold(0.0, f64::max);
        let last = depths.last().map_or(f64::NAN, |(_, last)| *last);
        println!("| {queue} | {filled_s:.1} s | {most} | {last} |");
        ensure!(*filled_s >= before_s, "see {queue} fill after the one before it");
        ensure!(last == 0.0, "see {queue} drain");
        before_s = *filled_s;
    }
    let p95_ms = |metric: &str| number(&summary, metric, "p(95)");
    let (answer_ms, poll_ms) = (p95_ms("flow_duration")?, p95_ms("flow_poll_duration")?);
    println!("\nAn answer takes {answer_ms:.0} ms (p95), a poll {poll_ms:.1} ms");
    let over = answer_ms / ANSWER_LIMIT_MS;
    ensure!(over >= OVER_MIN, "see answers take {OVER_MIN} times their limit: they take {over:.2}");
    the_way_adds_up(bench, &run, number(&summary, "flow_duration", "avg")?)?;
    lab.down()
}

/// The parts of a scan's way add up to what its users have waited; and what Little's law says of its queues is printed.
fn the_way_adds_up(bench: &Bench, run: &Path, waited_ms: f64) -> anyhow::Result<()> {
    let reader = runfile::Reader::open(run).context("read the run")?;
    let traces = reader.traces().context("read the run's traces")?;
    let ways = analysis::traces::ways(traces.iter());
    let way = ways.iter().find(|way| way.is_task).context("find the way of a scan among the traces")?;
    println!("\n{}", bench.section(run, WAY_TITLE)?);
    let sum_ms: f64 = way.table.stages.iter().map(|stage| stage.mean_ns).sum::<f64>() / 1e6;
    let off = |of_ms: f64| (sum_ms / of_ms - 1.0).abs();
    let (own, users) = (off(way.table.mean_ns / 1e6), off(waited_ms));
    println!(
        "The parts of {} traces are {:.2} % off their whole, and {:.2} % off what all users have waited",
        way.table.traces,
        own * 100.0,
        users * 100.0
    );
    ensure!(own.max(users) <= PARTS_OFF_MAX, "see the parts of a scan's way add up to it");
    Ok(())
}

fn a_ceiling_costs_half(bench: &Bench) -> anyhow::Result<()> {
    let mut scans = Vec::new();
    for state in ["on", "off"] {
        let lab = bench.up("scan", if state == "on" { "cold" } else { "warm" }, &[])?;
        bench.lab(&["fault", "scan", "scaler-ceiling", state])?;
        let summary = lab.measure("trickle.js", &[("VUS", "150"), ("DURATION", "20s")])?;
        let summary = summary.context("measure the scans validly")?;
        scans.push(number(&summary, "flow_tasks", "count")?);
        lab.down()?;
    }
    let ratio = scans[1] / scans[0];
    println!("Four workers do {ratio:.2} times as many scans as two");
    ensure!(ratio >= WORKERS_RATIO_MIN, "see them do {WORKERS_RATIO_MIN} times as many");
    Ok(())
}

/// Looks at the queues until the load is over and they are empty.
fn watch(lab: &Up, is_over: &AtomicBool) -> anyhow::Result<[Depths; 4]> {
    let (began, mut ended) = (SystemClock::now(), None);
    let mut depths: [Depths; 4] = Default::default();
    loop {
        let text = metrics(lab)?;
        let at_s = SystemClock::now().since(began).as_secs_f64();
        for (queue, depths) in QUEUES.iter().zip(&mut depths) {
            let series = format!("rabbitmq_queue_messages{{queue=\"{queue}\"}} ");
            let value = text.lines().find_map(|line| line.strip_prefix(&series));
            let value =
                value.and_then(|value| value.parse().ok()).with_context(|| format!("find {series}"))?;
            depths.push((at_s, value));
        }
        if is_over.load(Ordering::Relaxed) {
            let ended = *ended.get_or_insert_with(SystemClock::now);
            let is_empty = depths.iter().all(|depths| depths.last().is_some_and(|(_, last)| *last == 0.0));
            if is_empty || SystemClock::now().since(ended) > DRAIN_LIMIT {
                return Ok(depths);
            }
        }
        std::thread::sleep(PERIOD);
    }
}

/// The metrics of the service.
fn metrics(lab: &Up) -> anyhow::Result<String> {
    let host = lab.control_url.trim_start_matches("http://");
    let mut stream = TcpStream::connect(host).context("connect to the scanner's metrics")?;
    write!(stream, "GET /metrics HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n")?;
    let mut text = String::new();
    stream.read_to_string(&mut text).context("read the scanner's metrics")?;
    Ok(text)
}
