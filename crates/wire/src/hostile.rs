//! Servers that misbehave, each against a client in a process of its own: what it ends with, how long that takes, how much
//! memory, and whether a neighbour on the client's thread goes on.
//!
//! `cargo test -p wire hostile -- --nocapture` prints a table. The servers are threads with blocking sockets, so that they
//! are as fast as they can be and take no turns of the client's thread.

mod http1;
mod http2;
mod tls;
mod websocket;

use std::cell::Cell;
use std::fmt::Write as _;
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use model::SystemClock;
use model::plan::{HttpOptions, NetworkOptions, TlsOptions};
use tokio::task::spawn_local;

use crate::budget::BodyBudget;
use crate::testing::local;
use crate::{Client, Shared};

/// The timeout of each request.
const TIMEOUT: Duration = Duration::from_millis(300);

/// How much later than the timeout a request may end on a busy machine.
const LATE_MAX: Duration = Duration::from_secs(3);

/// Memory for all bodies of the client; one body may have the half of it.
const BODIES_BYTES: u64 = 32 << 20;

/// Memory that a client may take for a server that sends no body.
const SMALL_KIB: u64 = 24 << 10;

/// Memory that a client may take for a body: the body itself, and its buffer while that grows.
const BODY_KIB: u64 = 64 << 10;

/// Time between two ticks of a neighbour.
const TICK: Duration = Duration::from_millis(5);

/// Ticks of the control from which a neighbour's are compared: one that ends at once leaves no time for any.
const TICKS_MIN: u64 = 12;

/// Bytes that servers send at once.
const PIECE_BYTES: usize = 64 << 10;

/// Clients that run at the same time.
const CLIENTS_MAX: usize = 3;

/// Names the variable with the case whose client a process is.
const CASE: &str = "PLIMSOLL_HOSTILE_CASE";

/// Begins the line in which a client reports.
const REPORT: &str = "HOSTILE ";

/// Marks a row whose case failed.
const FAILED: &str = "FAILED";

/// A server that misbehaves.
struct Case {
    name: &'static str,
    /// Talks to a client that has connected, until either ends it.
    serve: fn(TcpStream) -> std::io::Result<()>,
    /// Is done before the client begins.
    prepare: fn(),
    client: ClientKind,
    /// The result begins with this.
    expect: &'static str,
    peak_kib_max: u64,
}

/// The client's actions.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ClientKind {
    /// A GET whose body is kept.
    Keeps,
    /// A GET whose body is discarded.
    Discards,
    /// A POST with a large body.
    Posts,
    /// A WebSocket that answers pings.
    Talks,
}

/// A case whose body is kept.
fn keeps(
    name: &'static str,
    expect: &'static str,
    peak_kib_max: u64,
    serve: fn(TcpStream) -> std::io::Result<()>,
) -> Case {
    Case { name, serve, prepare: || (), client: ClientKind::Keeps, expect, peak_kib_max }
}

/// Runs all `cases` of the test called `test`, each with a client in its own process, and prints a row for each.
fn check(test: &str, scheme: &str, cases: Vec<Case>) {
    if let Ok(name) = std::env::var(CASE) {
        let case = cases.into_iter().find(|case| case.name == name).expect("a case of this test");
        return run(scheme, case);
    }
    let mut rows: Vec<String> = Vec::new();
    for group in cases.chunks(CLIENTS_MAX) {
        rows.extend(thread::scope(|scope| {
            let started: Vec<_> =
                group.iter().map(|case| scope.spawn(move || run_in_child(test, case))).collect();
            started.into_iter().map(|row| row.join().expect("a row")).collect::<Vec<_>>()
        }));
    }
    // Beside other work a case may be late without a fault of the client's. Alone it must hold.
    for (row, case) in rows.iter_mut().zip(&cases) {
        if row.contains(FAILED) {
            *row = run_in_child(test, case);
        }
    }
    let mut table = String::new();
    for row in &rows {
        let _ = writeln!(table, "{row}");
    }
    println!("| server | result | ms | peak KiB | ticks of a neighbour | ticks of a control | exit |");
    println!("|---|---|---|---|---|---|---|\n{table}");
    // `cargo xtask hostile` reads these lines.
    println!("tried {}", rows.len());
    println!(
        "peak KiB {}",
        rows.iter().filter_map(|row| row.split(" | ").nth(3)?.parse().ok()).max().unwrap_or(0_u64)
    );
    assert!(!table.contains(FAILED), "\n{table}");
}

/// The row of a case.
fn run_in_child(test: &str, case: &Case) -> String {
    let program = std::env::current_exe().expect("this program has a path");
    let child = Command::new(program)
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(CASE, case.name)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let output = child.expect("it starts").wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stdout);
    let report = said.lines().find_map(|line| line.split_once(REPORT)).map(|(_, report)| report.to_owned());
    let exit = output.status.code().map_or_else(|| "killed".to_owned(), |code| code.to_string());
    let Some(report) = report else {
        return format!("| {} | {FAILED}: no report | | | | | {exit} |", case.name);
    };
    let verdict = judge(case, &report).map_or(String::new(), |why| format!(" {FAILED}: {why}"));
    format!("| {} | {report} | {exit} |{verdict}", case.name)
}

/// The fault of a report, if it has one.
fn judge(case: &Case, report: &str) -> Option<String> {
    let fields: Vec<&str> = report.split(" | ").collect();
    let [outcome, ms, peak_kib, ticks, control] = fields[..] else { return Some("no report".into()) };
    let number = |text: &str| text.parse::<u64>().unwrap_or(u64::MAX);
    if !outcome.starts_with(case.expect) {
        return Some(format!("expected {:?}", case.expect));
    }
    if number(ms) > (TIMEOUT + LATE_MAX).as_millis() as u64 {
        return Some("too late".into());
    }
    if number(peak_kib) > case.peak_kib_max {
        return Some(format!("more than {} KiB", case.peak_kib_max));
    }
    let stood_still = number(control) >= TICKS_MIN && number(ticks) < number(control) / 4;
    stood_still.then(|| "the neighbour stood still".into())
}

/// The client's process: prints a report.
fn run(scheme: &str, case: Case) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("it is bound");
    let serve = case.serve;
    thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            thread::spawn(move || serve(client));
        }
    });
    // A process that hangs reports nothing, and is a failure.
    thread::spawn(|| {
        thread::sleep(TIMEOUT + LATE_MAX + LATE_MAX);
        std::process::exit(3);
    });
    (case.prepare)();
    let (control, stop) = control();
    let before_kib = memory_kib("VmRSS:");
    let url = format!("{scheme}://{address}/");
    local(async move {
        let ticks = neighbour();
        let started = SystemClock::now();
        let (ticks_before, control_before) = (ticks.get(), control.load(Ordering::Relaxed));
        let outcome = ask(&url, case.client).await;
        let ms = SystemClock::now().since(started).as_millis();
        let peak_kib = memory_kib("VmHWM:").saturating_sub(before_kib);
        let ticks = ticks.get() - ticks_before;
        let control = control.load(Ordering::Relaxed) - control_before;
        stop.store(true, Ordering::Relaxed);
        let outcome: String = outcome.chars().take(100).filter(|letter| !letter.is_control()).collect();
        println!("\n{REPORT}{} | {ms} | {peak_kib} | {ticks} | {control}", outcome.replace('|', "/"));
    });
}

/// A task on the client's thread that counts.
fn neighbour() -> Rc<Cell<u64>> {
    let ticks = Rc::new(Cell::new(0));
    let counted = ticks.clone();
    spawn_local(async move {
        loop {
            tokio::time::sleep(TICK).await;
            counted.set(counted.get() + 1);
        }
    });
    ticks
}

/// A thread of its own that counts in the same way, on the same machine.
fn control() -> (Arc<AtomicU64>, Arc<AtomicBool>) {
    let (ticks, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
    let (counted, stopped) = (ticks.clone(), stop.clone());
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        runtime.block_on(async {
            while !stopped.load(Ordering::Relaxed) {
                tokio::time::sleep(TICK).await;
                counted.fetch_add(1, Ordering::Relaxed);
            }
        });
    });
    (ticks, stop)
}

/// A line of the kernel's about this process (proc_pid_status(5)).
fn memory_kib(title: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(title)).unwrap_or_default();
    line.trim().trim_end_matches("kB").trim().parse().unwrap_or(0)
}

async fn ask(url: &str, kind: ClientKind) -> String {
    if kind == ClientKind::Talks {
        websocket::talk(&client(), url).await
    } else {
        http1::fetch(url, kind).await
    }
}

fn client() -> Client {
    let tls = TlsOptions { insecure_skip_verify: true, ..TlsOptions::default() };
    let shared =
        Shared::new(&HttpOptions::default(), &NetworkOptions::default(), &tls).expect("good options");
    Client::new(Arc::new(shared.with_bodies(BodyBudget::new(BODIES_BYTES))), 1)
}

/// Sends `bytes` again and again, several at once, until the client is gone.
fn flood(stream: &mut impl Write, bytes: &[u8]) -> std::io::Result<()> {
    let piece = bytes.repeat((PIECE_BYTES / bytes.len()).max(1));
    loop {
        stream.write_all(&piece)?;
        stream.flush()?;
    }
}

/// Sends `bytes` one by one, slowly, and the last one again and again.
fn drip(stream: &mut impl Write, bytes: &[u8]) -> std::io::Result<()> {
    let last = bytes.last().copied().unwrap_or_default();
    for byte in bytes.iter().copied().chain(std::iter::repeat(last)) {
        stream.write_all(&[byte])?;
        stream.flush()?;
        thread::sleep(TIMEOUT / 20);
    }
    Ok(())
}

/// Waits until the client is gone, for a minute at most.
fn wait() {
    thread::sleep(Duration::from_secs(60));
}
