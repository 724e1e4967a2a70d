//! A long run of 10,000 VUs with faults at random: the program, the server and the run file count the same requests.
//!
//! The program runs against a server process that resets connections, answers with errors, stalls, refuses connections and is
//! restarted. The program itself is stopped for moments, floods of spans reach its receiver, silent connections occupy it, and
//! clients of its page do not read. A seed gives the faults.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, bail};
use model::metric::builtin::{HTTP_REQS, ITERATIONS};
use model::{Aggregate, Datum, MetricId, SystemClock, Window, Work};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use runfile::Reader;
use serde::{Deserialize, Serialize};
use stats::Random;

use super::suite::thousands;
use super::target::Counts;

/// Time between a fault and the next, seconds.
const PAUSE_S: std::ops::Range<f64> = 15.0..30.0;

/// Time without faults at the beginning and at the end, when all VUs start and end.
const CALM: Duration = Duration::from_secs(20);

/// Time that the program may take beyond the length of its run.
const ENDING_MAX: Duration = Duration::from_secs(180);

/// Time for which the program is stopped by a signal.
const FREEZE: Duration = Duration::from_millis(200);

/// Clients of the page that do not read, and connections to the receiver that are silent.
const PAGE_CLIENTS: usize = 96;
const SILENT_CLIENTS: usize = 300;

/// Spans of a request of the flood.
const SPANS: u64 = 500;

/// Time between two requests of the flood.
const FLOOD_PAUSE: Duration = Duration::from_millis(100);

/// Time that an answer to spans may take.
const SPANS_TIMEOUT: Duration = Duration::from_secs(30);

/// The script. An iteration has one request and thinks about ten seconds; the first one waits, so that VUs do not start at once.
const SCRIPT: &str = "\
import http from 'k6/http';
import { sleep } from 'k6';
import { Counter } from 'k6/metrics';
const asked = new Counter('asked'), answered = new Counter('answered'), unanswered = new Counter('unanswered');
export const options = {
    discardResponseBodies: true,
    scenarios: { all: {
        executor: 'constant-vus', vus: Number(__ENV.VUS), duration: `${__ENV.SECONDS}s`, gracefulStop: '5s' } },
};
export default function () {
    if (__ITER === 0) sleep(Math.random() * 10);
    asked.add(1);
    const response = http.get(`${__ENV.URL}/r/${__VU}/${__ITER}`, { tags: { name: 'r' }, timeout: '10s' });
    (response.status > 0 ? answered : unanswered).add(1);
    sleep(7 + Math.random() * 6);
}
";

/// A fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fault {
    Resets,
    Errors,
    ShortStall,
    LongStall,
    Refusals,
    Restart,
    Freeze,
    SpanFlood,
    SilentSenders,
    PageClients,
}

const FAULTS: [(Fault, &str); 10] = [
    (Fault::Resets, "connections reset"),
    (Fault::Errors, "answers with status 500"),
    (Fault::ShortStall, "stalls of 4 s"),
    (Fault::LongStall, "stalls of 12 s, beyond the timeout"),
    (Fault::Refusals, "connections refused for 3 s"),
    (Fault::Restart, "server restarted on the same port"),
    (Fault::Freeze, "load generator stopped for 200 ms"),
    (Fault::SpanFlood, "floods of spans"),
    (Fault::SilentSenders, "300 silent connections to the receiver of spans"),
    (Fault::PageClients, "96 clients of the page that do not read"),
];

/// Settings of the run.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub(super) program: PathBuf,
    pub(super) minutes: u32,
    pub(super) vus: u32,
    pub(super) seed: u64,
    pub(super) folder: PathBuf,
}

/// Results of the run, as stored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Figures {
    pub(super) minutes: u32,
    pub(super) vus: u32,
    pub(super) seed: u64,
    /// Faults by name.
    pub(super) faults: Vec<(String, u64)>,
    /// Requests by the program's metric, its file and the script's own counter.
    pub(super) requests_summary: u64,
    pub(super) requests_file: u64,
    pub(super) requests_script: u64,
    /// Requests with an answer, and those without one.
    pub(super) answered: u64,
    pub(super) unanswered: u64,
    /// Requests without an answer, by message.
    pub(super) errors: Vec<(String, u64)>,
    /// Requests whose connection could not be established, so that no server saw them.
    pub(super) never_connected: u64,
    /// Counts of the server's processes.
    pub(super) server: Counts,
    pub(super) iterations_started: u64,
    pub(super) iterations_ended: u64,
    pub(super) iterations_metric: u64,
    pub(super) iterations_interrupted: u64,
    /// Spans in requests that the receiver accepted, and in requests without an answer.
    pub(super) spans_accepted: u64,
    pub(super) spans_unanswered: u64,
    pub(super) spans_received: u64,
    pub(super) windows: u64,
    pub(super) peak_kib: u64,
    pub(super) exit_code: Option<i32>,
    pub(super) panics: u64,
    /// Laws that do not hold.
    pub(super) violations: Vec<String>,
}

impl Figures {
    /// Returns the figures as Markdown.
    pub(super) fn table(&self) -> String {
        let lost = self.requests_file.saturating_sub(self.never_connected);
        let lost = lost.saturating_sub(self.server.seen - self.server.repeated);
        let rows = [
            ("Length, minutes", u64::from(self.minutes)),
            ("VUs", u64::from(self.vus)),
            ("Faults", self.faults.iter().map(|(_, count)| count).sum()),
            ("Requests sent, by the script's own counter", self.requests_script),
            ("Requests recorded, in the exported summary", self.requests_summary),
            ("Requests recorded, in the run file", self.requests_file),
            ("Requests with an answer", self.answered),
            ("Requests without an answer", self.unanswered),
            ("… whose connection was refused, so that no server saw them", self.never_connected),
            ("Requests that the server saw, each counted once", self.server.seen - self.server.repeated),
            ("Requests that it saw again: repeated by the client after a reset", self.server.repeated),
            ("Requests without an answer that ended before the server read them whole", lost),
            ("Iterations started", self.iterations_started),
            ("Iterations completed", self.iterations_metric),
            ("Iterations interrupted at the end", self.iterations_interrupted),
            ("Spans accepted by the receiver", self.spans_accepted),
            ("Spans recorded in the run file", self.spans_received),
            ("Panics", self.panics),
            ("Peak memory, MiB", self.peak_kib / 1024),
        ];
        let row = |(name, count): (&str, u64)| format!("| {name} | {} |\n", thousands(count));
        let code = self.exit_code.map_or_else(|| "none".to_owned(), |code| code.to_string());
        let faults: Vec<String> =
            self.faults.iter().map(|(name, count)| format!("{name} × {count}")).collect();
        let laws = match self.violations.is_empty() {
            true => "All laws hold".to_owned(),
            false => format!("**Broken laws: {}**", self.violations.join("; ")),
        };
        format!(
            "| Figure | Count |\n|---|---:|\n{}| Exit code | {code} |\n\n{laws}. Seed {}. Faults: {}.\n",
            rows.map(row).concat(),
            self.seed,
            faults.join(", ")
        )
    }

    /// Returns the laws that the figures break.
    fn broken_laws(&self) -> Vec<String> {
        let seen_once = self.server.seen - self.server.repeated;
        let maybe_seen = self.unanswered.saturating_sub(self.never_connected);
        let laws = [
            (
                self.requests_summary == self.requests_file,
                "requests in the summary = requests in the run file",
            ),
            // An interrupted iteration may end between the script's count and the request's.
            (
                self.requests_script >= self.requests_file
                    && self.requests_script - self.requests_file <= self.iterations_interrupted,
                "requests of the script = requests in the run file, up to interrupted iterations",
            ),
            (
                self.requests_file == self.answered + self.unanswered
                    || self.requests_file.abs_diff(self.answered + self.unanswered)
                        <= self.iterations_interrupted,
                "requests = answered + unanswered, up to interrupted iterations",
            ),
            (self.answered <= seen_once, "every answered request was seen by the server"),
            (
                seen_once <= self.answered + maybe_seen + self.iterations_interrupted,
                "the server saw no request that the program did not send",
            ),
            (self.answered <= self.server.answered, "every answer was written by the server"),
            (
                self.iterations_started == self.iterations_ended,
                "every iteration that started came to its end",
            ),
            (
                self.iterations_started == self.iterations_metric + self.iterations_interrupted,
                "iterations started = completed + interrupted",
            ),
            (
                (self.spans_accepted..=self.spans_accepted + self.spans_unanswered)
                    .contains(&self.spans_received),
                "every accepted span was received",
            ),
            (self.exit_code == Some(0), "exit code 0"),
            (self.panics == 0, "no panic"),
        ];
        laws.into_iter().filter(|(holds, _)| !holds).map(|(_, law)| law.to_owned()).collect()
    }
}

/// Runs the program and returns the figures.
pub(super) fn measure(settings: &Settings) -> anyhow::Result<Figures> {
    std::fs::create_dir_all(&settings.folder).context("create a folder")?;
    std::fs::write(settings.folder.join("hour.js"), SCRIPT).context("write the script")?;
    let mut target = Target::start(0)?;
    let length = Duration::from_secs(u64::from(settings.minutes) * 60);
    let receiver = free_address()?;
    let mut program = Program::start(settings, target.port, length, &receiver)?;
    let mut figures =
        Figures { minutes: settings.minutes, vus: settings.vus, seed: settings.seed, ..Figures::default() };
    let mut faults = Faults { program: &program, target: &mut target, receiver, spans: Arc::default() };
    let injected = faults.inject(settings, length, &mut figures.server)?;
    figures.faults = FAULTS
        .iter()
        .map(|(fault, name)| {
            ((*name).to_owned(), injected.iter().filter(|injected| *injected == fault).count() as u64)
        })
        .collect();
    let spans = faults.spans.clone();
    (figures.exit_code, figures.peak_kib) = program.wait(length + ENDING_MAX)?;
    figures.server.add(target.end()?);
    figures.spans_accepted = spans.accepted.load(Ordering::SeqCst);
    figures.spans_unanswered = spans.unanswered.load(Ordering::SeqCst);
    read_outputs(&settings.folder, &mut figures)?;
    read_file(&settings.folder, &mut figures)?;
    figures.violations = figures.broken_laws();
    Ok(figures)
}

fn free_address() -> anyhow::Result<String> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").context("find a free port")?;
    Ok(listener.local_addr().context("read the port")?.to_string())
}

/// The server process.
pub(super) struct Target {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    pub(super) port: u16,
}

impl Target {
    pub(super) fn start(port: u16) -> anyhow::Result<Target> {
        let own = std::env::current_exe().context("find this program")?;
        let mut command = Command::new(own);
        command.args(["hostile", "--target", &port.to_string()]);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("start the server under test")?;
        let stdin = child.stdin.take();
        let mut stdout = BufReader::new(child.stdout.take().context("read the server's output")?);
        let mut line = String::new();
        stdout.read_line(&mut line).context("read the server's port")?;
        let port = line.trim().parse().with_context(|| format!("read the server's port in {line:?}"))?;
        Ok(Target { child, stdin, stdout, port })
    }

    fn tell(&mut self, command: &str) -> anyhow::Result<()> {
        let stdin = self.stdin.as_mut().context("reach the server under test")?;
        writeln!(stdin, "{command}").and_then(|()| stdin.flush()).context("command the server under test")
    }

    /// Ends the process and returns its counts.
    pub(super) fn end(&mut self) -> anyhow::Result<Counts> {
        drop(self.stdin.take());
        let mut line = String::new();
        self.stdout.read_line(&mut line).context("read the server's counts")?;
        self.child.wait().context("wait for the server under test")?;
        serde_json::from_str(&line).with_context(|| format!("read the server's counts in {line:?}"))
    }
}

/// The program under test.
struct Program {
    child: Child,
    peak_kib: Arc<AtomicU64>,
    is_over: Arc<AtomicBool>,
    watch: Option<JoinHandle<()>>,
    stderr: PathBuf,
}

impl Program {
    fn start(settings: &Settings, port: u16, length: Duration, receiver: &str) -> anyhow::Result<Program> {
        let folder = &settings.folder;
        let create = |name: &str| File::create(folder.join(name)).with_context(|| format!("create {name}"));
        let mut command = Command::new(&settings.program);
        command
            .args(["run", "--no-color", "--no-page=false", "--summary-export", "summary.json"])
            .arg(format!("--otlp={receiver}"))
            .arg("hour.js")
            .current_dir(folder)
            .env("PLIMSOLL_RUNS", folder.join("runs"))
            .env("VUS", settings.vus.to_string())
            .env("SECONDS", length.as_secs().to_string())
            .env("URL", format!("http://127.0.0.1:{port}"))
            .stdin(Stdio::null())
            .stdout(create("stdout")?)
            .stderr(create("stderr")?);
        let child = command.spawn().with_context(|| format!("start {}", settings.program.display()))?;
        let (peak_kib, is_over) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let watch = {
            let (pid, peak_kib, is_over) = (child.id(), peak_kib.clone(), is_over.clone());
            std::thread::spawn(move || {
                while !is_over.load(Ordering::SeqCst) {
                    peak_kib.fetch_max(super::peak_kib(pid).unwrap_or(0), Ordering::SeqCst);
                    std::thread::sleep(Duration::from_millis(500));
                }
            })
        };
        Ok(Program { child, peak_kib, is_over, watch: Some(watch), stderr: folder.join("stderr") })
    }

    /// Returns the address of the page, as the program printed it.
    fn page(&self) -> Option<String> {
        let text = std::fs::read_to_string(&self.stderr).ok()?;
        let (_, rest) = text.split_once("page: http://")?;
        rest.split('/').next().map(str::to_owned)
    }

    /// Waits for the end; returns the exit code and the peak of resident memory.
    fn wait(&mut self, limit: Duration) -> anyhow::Result<(Option<i32>, u64)> {
        let status = wait(&mut self.child, limit)?;
        self.is_over.store(true, Ordering::SeqCst);
        if let Some(watch) = self.watch.take() {
            let _ = watch.join();
        }
        Ok((status.code(), self.peak_kib.load(Ordering::SeqCst)))
    }

    fn freeze(&self) -> anyhow::Result<()> {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).context("read a process id")?);
        kill(pid, Signal::SIGSTOP).context("stop the program")?;
        std::thread::sleep(FREEZE);
        kill(pid, Signal::SIGCONT).context("continue the program")
    }
}

/// Waits for a child, which is killed if it takes longer than `limit`.
fn wait(child: &mut Child, limit: Duration) -> anyhow::Result<ExitStatus> {
    let began = SystemClock::now();
    loop {
        if let Some(status) = child.try_wait().context("wait for the program")? {
            return Ok(status);
        }
        if SystemClock::now().since(began) > limit {
            // It fails only if the program ended meanwhile.
            let _ = child.kill();
            return child.wait().context("wait for the program");
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Spans that were sent.
#[derive(Debug, Default)]
struct Spans {
    accepted: AtomicU64,
    unanswered: AtomicU64,
}

/// Injects faults.
struct Faults<'a> {
    program: &'a Program,
    target: &'a mut Target,
    receiver: String,
    spans: Arc<Spans>,
}

impl Faults<'_> {
    /// Injects faults until the run is nearly over, and returns them.
    fn inject(
        &mut self,
        settings: &Settings,
        length: Duration,
        server: &mut Counts,
    ) -> anyhow::Result<Vec<Fault>> {
        let mut random = Random::new(settings.seed);
        let (began, mut injected) = (SystemClock::now(), Vec::new());
        std::thread::sleep(CALM);
        let end = began + length.saturating_sub(CALM * 2);
        while SystemClock::now() < end {
            // All kinds come in turn at first, so that a short run has them, too.
            let place =
                if injected.len() < FAULTS.len() { injected.len() } else { random.below(FAULTS.len()) };
            let (fault, name) = FAULTS[place];
            println!("{:>5} s: {name}", SystemClock::now().since(began).as_secs());
            self.one(fault, server)?;
            injected.push(fault);
            let pause_s = PAUSE_S.start + random.unit() * (PAUSE_S.end - PAUSE_S.start);
            // A short run has shorter pauses.
            let pause_s = if settings.minutes < 10 { pause_s / 10.0 } else { pause_s };
            std::thread::sleep(Duration::from_secs_f64(pause_s));
        }
        Ok(injected)
    }

    fn one(&mut self, fault: Fault, server: &mut Counts) -> anyhow::Result<()> {
        let seconds = |seconds| std::thread::sleep(Duration::from_secs(seconds));
        match fault {
            Fault::Resets => self.for_a_time("reset")?,
            Fault::Errors => self.for_a_time("errors")?,
            Fault::ShortStall => {
                self.target.tell("stall 4000")?;
                seconds(4);
            }
            Fault::LongStall => {
                self.target.tell("stall 12000")?;
                seconds(12);
            }
            Fault::Refusals => {
                self.target.tell("refuse")?;
                seconds(3);
                self.target.tell("listen")?;
            }
            Fault::Restart => {
                let port = self.target.port;
                server.add(self.target.end()?);
                seconds(1);
                *self.target = Target::start(port)?;
            }
            Fault::Freeze => self.program.freeze()?,
            Fault::SpanFlood => self.flood(),
            Fault::SilentSenders => {
                let silent: Vec<_> =
                    (0..SILENT_CLIENTS).filter_map(|_| TcpStream::connect(&self.receiver).ok()).collect();
                // Spans are accepted beside them.
                self.send_spans(&mut None);
                seconds(3);
                drop(silent);
            }
            Fault::PageClients => self.read_nothing(),
        }
        Ok(())
    }

    fn for_a_time(&mut self, manner: &str) -> anyhow::Result<()> {
        self.target.tell(manner)?;
        std::thread::sleep(Duration::from_secs(5));
        self.target.tell("ok")
    }

    fn flood(&self) {
        let mut connection = None;
        let began = SystemClock::now();
        while SystemClock::now().since(began) < Duration::from_secs(5) {
            self.send_spans(&mut connection);
            std::thread::sleep(FLOOD_PAUSE);
        }
    }

    /// Sends a request with spans over an open connection, or over a new one.
    fn send_spans(&self, connection: &mut Option<TcpStream>) {
        match post_spans(&self.receiver, connection) {
            Ok(true) => {
                self.spans.accepted.fetch_add(SPANS, Ordering::SeqCst);
            }
            Ok(false) => *connection = None,
            Err(_) => {
                self.spans.unanswered.fetch_add(SPANS, Ordering::SeqCst);
                *connection = None;
            }
        }
    }

    /// Opens connections to the page that ask for much and read nothing.
    fn read_nothing(&self) {
        let Some(page) = self.program.page() else { return };
        let request = format!("GET /api/v1/runs/@last/series HTTP/1.1\r\nhost: {page}\r\n\r\n").repeat(200);
        let open = |_| {
            let mut stream = TcpStream::connect(&page).ok()?;
            stream.set_nonblocking(true).ok()?;
            // What does not fit into the buffers stays unsent.
            let _ = stream.write(request.as_bytes());
            Some(stream)
        };
        let clients: Vec<_> = (0..PAGE_CLIENTS).filter_map(open).collect();
        std::thread::sleep(Duration::from_secs(5));
        drop(clients);
    }
}

/// Sends spans; returns whether they were accepted.
fn post_spans(receiver: &str, connection: &mut Option<TcpStream>) -> std::io::Result<bool> {
    static NUMBER: AtomicU64 = AtomicU64::new(1);
    let first = NUMBER.fetch_add(SPANS, Ordering::SeqCst);
    let span = |number: u64| {
        format!(
            "{{\"traceId\":\"{number:032x}\",\"spanId\":\"{number:016x}\",\"name\":\"GET /\",\"kind\":2,\
             \"startTimeUnixNano\":\"1000\",\"endTimeUnixNano\":\"2000\"}}"
        )
    };
    let spans: Vec<String> = (first..first + SPANS).map(span).collect();
    let body = format!("{{\"resourceSpans\":[{{\"scopeSpans\":[{{\"spans\":[{}]}}]}}]}}", spans.join(","));
    let stream = match connection {
        Some(stream) => stream,
        None => {
            let stream = TcpStream::connect(receiver)?;
            stream.set_read_timeout(Some(SPANS_TIMEOUT))?;
            connection.insert(stream)
        }
    };
    write!(
        stream,
        "POST /v1/traces HTTP/1.1\r\nhost: {receiver}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )?;
    let mut answer = Vec::new();
    let mut bytes = [0; 1024];
    // The answer to accepted spans is short and ends with its body, an empty object.
    while !answer.ends_with(b"{}") {
        let count = stream.read(&mut bytes)?;
        answer.extend_from_slice(&bytes[..count]);
        if count == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        if !answer.starts_with(b"HTTP/1.1 200") && answer.len() >= 12 {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Reads what the program printed and exported.
fn read_outputs(folder: &Path, figures: &mut Figures) -> anyhow::Result<()> {
    let text = |name: &str| {
        std::fs::read(folder.join(name)).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    };
    let (out, err) = (text("stdout").context("read stdout")?, text("stderr").context("read stderr")?);
    let all = format!("{out}\n{err}");
    figures.panics = all.matches("panicked at").count() as u64;
    figures.iterations_interrupted =
        interrupted(&all).context("find the interrupted iterations in the output")?;
    let summary = text("summary.json").context("read the exported summary")?;
    let summary: serde_json::Value = serde_json::from_str(&summary).context("parse the exported summary")?;
    figures.requests_summary = summary["metrics"]["http_reqs"]["count"].as_f64().unwrap_or(0.0) as u64;
    Ok(())
}

/// Returns the last count of interrupted iterations that the program printed.
fn interrupted(text: &str) -> Option<u64> {
    let (before, _) = text.rsplit_once(" interrupted iterations")?;
    before.rsplit(' ').next()?.parse().ok()
}

/// Reads the counts in the run file.
fn read_file(folder: &Path, figures: &mut Figures) -> anyhow::Result<()> {
    let runs = std::fs::read_dir(folder.join("runs")).context("list the runs")?;
    let files: Vec<PathBuf> = runs
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "plimsoll"))
        .collect();
    let [file] = &files[..] else { bail!("find the run among {files:?}") };
    let reader = Reader::open(file).map_err(|error| anyhow::anyhow!("{error}")).context("open the run")?;
    let read = |error: runfile::ReadError| anyhow::anyhow!("{error}");
    let range = reader.range().map_err(read)?;
    figures.windows = range.len() as u64;
    let window = reader.sum(range.clone()).map_err(read)?;
    let own = |name: &str| reader.registry().find(name).map_or(0, |metric| counter(&window, metric.id));
    figures.requests_file = counter(&window, HTTP_REQS);
    figures.iterations_metric = counter(&window, ITERATIONS);
    figures.requests_script = own("asked");
    figures.answered = own("answered");
    figures.unanswered = own("unanswered");
    for load in window.load.iter().filter(|load| load.work == Work::Iterations && load.scenario.is_some()) {
        figures.iterations_started += load.started;
        figures.iterations_ended += load.finished;
    }
    for error in reader.errors().map_err(read)?.iter().filter(|error| error.count > 0) {
        let is_dial = error.message.contains("connection refused");
        figures.never_connected += if is_dial { error.count } else { 0 };
        figures.errors.push((error.message.to_string(), error.count));
    }
    for record in reader.records().map_err(read)? {
        if let Some(Datum::Number(count)) = record.fields.get("spans_received") {
            figures.spans_received = *count as u64;
        }
    }
    Ok(())
}

fn counter(window: &Window, metric: MetricId) -> u64 {
    let counters = window.series.iter().filter(|(key, _)| key.metric == metric);
    counters
        .map(|(_, aggregate)| if let Aggregate::Counter(counter) = aggregate { counter.count } else { 0 })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sound() -> Figures {
        Figures {
            requests_summary: 100,
            requests_file: 100,
            requests_script: 101,
            answered: 80,
            unanswered: 20,
            never_connected: 5,
            server: Counts { seen: 93, repeated: 1, answered: 82, reset: 10 },
            iterations_started: 102,
            iterations_ended: 102,
            iterations_metric: 100,
            iterations_interrupted: 2,
            spans_accepted: 1_000,
            spans_received: 1_000,
            exit_code: Some(0),
            ..Figures::default()
        }
    }

    #[test]
    fn every_law_can_be_broken() {
        assert_eq!(sound().broken_laws(), Vec::<String>::new());
        let check = |law: &str, figures: Figures| {
            let broken = figures.broken_laws();
            assert!(broken.iter().any(|broken| broken.contains(law)), "{law}: {broken:?}");
        };
        check("summary", Figures { requests_summary: 99, ..sound() });
        check("of the script", Figures { requests_script: 104, ..sound() });
        check("answered + unanswered", Figures { answered: 60, ..sound() });
        check("was seen by the server", Figures { server: Counts { seen: 70, ..sound().server }, ..sound() });
        check("did not send", Figures { server: Counts { seen: 99, ..sound().server }, ..sound() });
        check("was written", Figures { server: Counts { answered: 79, ..sound().server }, ..sound() });
        check("came to its end", Figures { iterations_ended: 101, ..sound() });
        check("completed + interrupted", Figures { iterations_metric: 99, ..sound() });
        check("accepted span", Figures { spans_received: 999, ..sound() });
        check("exit code", Figures { exit_code: None, ..sound() });
        check("panic", Figures { panics: 1, ..sound() });
    }

    #[test]
    fn interrupted_iterations_are_read() {
        let text = "running (01m), 08/12 VUs, 23 complete and 0 interrupted iterations\n\
            running (02m), 00/12 VUs, 55 complete and 7 interrupted iterations\n";
        assert_eq!(interrupted(text), Some(7));
        assert_eq!(interrupted("nothing"), None);
    }
}
