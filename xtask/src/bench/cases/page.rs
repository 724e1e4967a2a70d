//! How fast the page is, and what one that is left open costs the generator.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, ensure};
use model::SystemClock;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use super::lateness::half_load_per_s;
use crate::bench::bars::{Verdict, judge};
use crate::bench::page::Report;
use crate::bench::process::pinned;
use crate::bench::stats::{Estimate, difference, estimate, median};
use crate::bench::{Bench, CLIENT_CORE, hour, script_path, server};
use crate::workspace;

/// The server's paths, below the run.
const VIEWS: [&str; 10] = [
    "",
    "/series",
    "/thresholds",
    "/requests",
    "/distribution",
    "/errors",
    "/logs",
    "/generator",
    "/validity",
    "/audit",
];

/// Length of a run beside which a page is left open, and of its part that is measured.
const RUN_S: u32 = 60;
const MEASURED: Duration = Duration::from_secs(50);

/// How long a run goes on before it is measured: the browser has started then.
const STARTING: Duration = Duration::from_secs(6);

/// Length of the run whose events are replayed to the page.
const RECORDED_S: u32 = 15;

const VUS: u32 = 200;

/// The unit of process times in the kernel (`USER_HZ` of proc(5), the same on all machines that Linux runs on today).
const TICKS_PER_S: f64 = 100.0;

pub(super) fn run(bench: &Bench) -> anyhow::Result<Report> {
    let runs = bench.folder.join("page-runs");
    std::fs::create_dir_all(&runs).context("create a folder for runs")?;
    bench.progress("writes an hour of 500 series");
    hour::write(&runs.join(hour::FILE))?;
    let mut report = Report { rows: vec![titles()], ..Report::default() };
    report.rows.extend(answers(bench, &runs)?);
    if !has_browser() {
        report.notes.push("Without a browser: `npm ci` in `ui` installs what drives one.".to_owned());
        return Ok(report);
    }
    let rate = half_load_per_s(bench)?;
    let ticks = bench.folder.join("ticks.jsonl");
    record(bench, rate, &ticks)?;
    let figures = in_browser(bench, &runs, &ticks)?;
    report.rows.extend(rows_of(&figures));
    report.verdicts.extend(verdicts_of(&figures));
    report.notes.push(format!(
        "A run of an hour with {} series; each round has a new server and a new window of the browser, which has loaded its \
         own parts. Times in the browser are from the reader's last move until the frame with the last number is drawn; \
         *first* is what a server does that has read nothing, *part* another ten minutes each time, *again* what it has \
         answered before. The heap is that of a live page after its first and after its second half hour of seconds, which are \
         those of a real run, replayed faster. It may grow by what the points of half an hour take at most: they are kept until \
         there are 1,500, and then asked for anew.",
        hour::SERIES
    ));
    Ok(report)
}

/// The cost of an open page to the generator.
pub(super) fn left_open(bench: &Bench) -> anyhow::Result<Report> {
    if !has_browser() {
        return Ok(Report::skipped("`npm ci` in `ui` installs what drives a browser"));
    }
    let rate = half_load_per_s(bench)?;
    let (looked_at, alone) = shares(bench, rate)?;
    let of = |shares: &[Share], what: fn(&Share) -> f64| shares.iter().map(what).collect::<Vec<f64>>();
    let row = |what: &str, shares: &[Share]| {
        let percent = |what| format!("{:.2} %", median(&of(shares, what)));
        vec![what.to_owned(), percent(|share| share.all), percent(|share| share.beside_workers)]
    };
    let (open, closed) =
        (of(&looked_at, |share| share.beside_workers), of(&alone, |share| share.beside_workers));
    let whole = difference(&of(&looked_at, |share| share.all), &of(&alone, |share| share.all));
    let whole = whole.map(|whole| format!("{:.2} points, at most {:.2}", whole.mean, whole.upper));
    Ok(Report {
        rows: vec![
            ["page", "CPU of the core", "beside the workers"].map(str::to_owned).to_vec(),
            row("open", &looked_at),
            row("closed", &alone),
        ],
        verdicts: difference(&open, &closed)
            .map(|found| judge("page left open, of the generator's core", found))
            .into_iter()
            .collect(),
        notes: vec![format!(
            "{rate:.0} requests/s from an open schedule; medians of runs of {RUN_S} s, of which {} s are measured. The browser \
             has the server's core. What a page asks is answered by threads beside the workers, and their time is judged: that \
             of the workers changes from run to run by more than a page costs, with what other machines leave of the shared \
             cache (the whole process: {}).",
            MEASURED.as_secs(),
            whole.unwrap_or_default()
        )],
    })
}

/// Whether what drives a browser is installed.
fn has_browser() -> bool {
    workspace::root().join("ui/node_modules").exists()
}

fn titles() -> Vec<String> {
    ["what", "median", "max", "KB"].map(str::to_owned).to_vec()
}

fn row(what: &str, values: &[f64], bytes: Option<usize>) -> Vec<String> {
    let max = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let kilobytes = bytes.map_or_else(String::new, |bytes| format!("{:.0}", bytes as f64 / 1e3));
    vec![what.to_owned(), format!("{:.1}", median(values)), format!("{max:.1}"), kilobytes]
}

/// How long each answer takes: the first of a new server, of a part, and again.
fn answers(bench: &Bench, runs: &Path) -> anyhow::Result<Vec<Vec<String>>> {
    let mut times: HashMap<(usize, &str), Vec<f64>> = HashMap::new();
    let mut bytes = [0; VIEWS.len()];
    for round in 0..bench.rounds {
        let serve = Serve::start(&bench.plimsoll, runs)?;
        for (place, view) in VIEWS.iter().enumerate() {
            let path = |query: &str| format!("/api/v1/runs/{}{view}{query}", hour::ID);
            let from = 300 + round * 60;
            let part = format!("?from={from}&to={}", from + 600);
            for (kind, query) in [("first", ""), ("again", ""), ("part", part.as_str())] {
                let (ms, length) = serve.ask(&path(query))?;
                times.entry((place, kind)).or_default().push(ms);
                if kind == "first" {
                    bytes[place] = length;
                }
            }
        }
        bench.progress(&format!("round {} of {} of answers", round + 1, bench.rounds));
    }
    let mut rows = Vec::new();
    for (place, view) in VIEWS.iter().enumerate() {
        for kind in ["first", "part", "again"] {
            let size = (kind == "first").then_some(bytes[place]);
            rows.push(row(&format!("`/runs/ID{view}`, {kind}, ms"), &times[&(place, kind)], size));
        }
    }
    Ok(rows)
}

/// `plimsoll serve`; dropping it ends it.
struct Serve {
    child: Child,
    address: String,
}

impl Serve {
    fn start(plimsoll: &Path, runs: &Path) -> anyhow::Result<Serve> {
        let mut command = Command::new(plimsoll);
        command.args(["serve", "--address", "127.0.0.1:0", "--runs"]).arg(runs);
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().context("start plimsoll serve")?;
        let stdout = child.stdout.take().context("read what plimsoll serve says")?;
        let mut serve = Serve { child, address: String::new() };
        serve.address = address_in(BufReader::new(stdout))?;
        Ok(serve)
    }

    /// Asks for a path; gives the time until all of the answer is there, milliseconds, and its bytes.
    fn ask(&self, path: &str) -> anyhow::Result<(f64, usize)> {
        let start = SystemClock::now();
        let mut stream = open(&self.address, path)?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).with_context(|| format!("read {path}"))?;
        let ms = SystemClock::now().ms_since(start);
        let head = String::from_utf8_lossy(&answer[..answer.len().min(200)]).into_owned();
        ensure!(head.contains(" 200 OK"), "have {path} answered: {head}");
        Ok((ms, answer.len()))
    }
}

impl Drop for Serve {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

/// Ends a program as its user would.
fn end(child: &mut Child) {
    if let Ok(pid) = i32::try_from(child.id()) {
        let _ = kill(Pid::from_raw(pid), Signal::SIGTERM);
    }
    let _ = child.wait();
}

/// Sends a question; the older version of HTTP says by its end where the answer ends.
fn open(address: &str, path: &str) -> anyhow::Result<TcpStream> {
    let mut stream = TcpStream::connect(address).context("connect to the page")?;
    write!(stream, "GET {path} HTTP/1.0\r\nHost: {address}\r\n\r\n").context("ask the page")?;
    Ok(stream)
}

/// The address of the page, as the program prints it.
fn address_in(mut lines: impl BufRead) -> anyhow::Result<String> {
    let mut line = String::new();
    while lines.read_line(&mut line).context("read what plimsoll says")? > 0 {
        if let Some((_, link)) = line.split_once("page: http://") {
            return Ok(link.trim().split('/').next().unwrap_or_default().to_owned());
        }
        line.clear();
    }
    anyhow::bail!("find the address of the page in what plimsoll says")
}

/// A run whose page is served.
struct Live {
    child: Child,
    address: String,
}

impl Live {
    fn start(bench: &Bench, rate: f64, seconds: u32) -> anyhow::Result<Live> {
        let mut command = pinned(CLIENT_CORE, &bench.plimsoll);
        command.args(["run", "--no-page=false", "--no-color"]);
        let variables = [
            ("URL", bench.server.url("/list")),
            ("VUS", VUS.to_string()),
            ("SECONDS", seconds.to_string()),
            ("RATE", format!("{rate:.0}")),
        ];
        for (name, value) in variables {
            command.arg("-e").arg(format!("{name}={value}"));
        }
        command.arg(script_path("open.js")).env("PLIMSOLL_RUNS", bench.folder.join("runs"));
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .context("start a run")?;
        let mut stderr = BufReader::new(child.stderr.take().context("read what the run says")?);
        let mut live = Live { child, address: String::new() };
        live.address = address_in(&mut stderr)?;
        // The client stops reading, and the server goes on writing.
        std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
        Ok(live)
    }

    /// User and system time of the process so far, and that of its workers, seconds.
    fn cpu_s(&self) -> anyhow::Result<(f64, f64)> {
        let path = format!("/proc/{}/stat", self.child.id());
        let text = std::fs::read_to_string(&path).with_context(|| format!("read {path}"))?;
        let ticks = ticks_in(&text).with_context(|| format!("find the times in {path}"))?;
        Ok((ticks as f64 / TICKS_PER_S, self.workers_cpu_s()?))
    }

    fn workers_cpu_s(&self) -> anyhow::Result<f64> {
        let folder = format!("/proc/{}/task", self.child.id());
        let mut ns = 0;
        for thread in std::fs::read_dir(&folder).with_context(|| format!("read {folder}"))? {
            let thread = thread.with_context(|| format!("read {folder}"))?.path();
            let read = |file: &str| std::fs::read_to_string(thread.join(file));
            // A thread that ended meanwhile was no worker: those live as long as the run.
            if !read("comm").is_ok_and(|name| name.starts_with("worker-")) {
                continue;
            }
            // Its first number is the time on a core in nanoseconds.
            let text = read("schedstat").with_context(|| format!("read {}", thread.display()))?;
            let first = text.split_whitespace().next().and_then(|number| number.parse::<u64>().ok());
            ns += first.with_context(|| format!("find the time in {}", thread.display()))?;
        }
        Ok(ns as f64 / 1e9)
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

/// The fields 14 and 15 of `/proc/PID/stat`, behind the name in brackets, added up.
fn ticks_in(stat: &str) -> Option<u64> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace().skip(11);
    Some(fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?)
}

/// Writes the events that a real run sends to its page, one tick per line.
fn record(bench: &Bench, rate: f64, to: &Path) -> anyhow::Result<()> {
    bench.progress("record the events that a run sends to its page");
    let live = Live::start(bench, rate, RECORDED_S)?;
    let about = {
        let mut text = String::new();
        open(&live.address, "/api/v1/about")?.read_to_string(&mut text).context("ask which run it is")?;
        text
    };
    let body = about.split_once("\r\n\r\n").context("find what the page says")?.1;
    let about: Value = serde_json::from_str(body).context("read what the page says")?;
    let run = about["run"].as_str().context("find the run")?;
    let stream = BufReader::new(open(&live.address, &format!("/api/v1/runs/{run}/events"))?);
    let (mut ticks, mut is_tick) = (String::new(), false);
    for line in stream.lines() {
        let line = line.context("read the events")?;
        match line.strip_prefix("data: ") {
            Some(data) if is_tick => ticks.extend([data, "\n"]),
            Some(_) => {}
            None if line.starts_with("event: ") => is_tick = line == "event: tick",
            None => {}
        }
    }
    std::fs::write(to, ticks).with_context(|| format!("write {}", to.display()))
}

/// Figures by their names, from the browser.
fn in_browser(bench: &Bench, runs: &Path, ticks: &Path) -> anyhow::Result<HashMap<String, Vec<f64>>> {
    bench.progress("measures in a browser");
    let out = bench.folder.join("speed.jsonl");
    let status = Command::new("npm")
        .args(["run", "--silent", "test:speed"])
        .current_dir(workspace::root().join("ui"))
        .env("SPEED_PLIMSOLL", absolute(&bench.plimsoll)?)
        .env("SPEED_RUNS", runs)
        .env("SPEED_RUN", hour::ID)
        .env("SPEED_ROUNDS", bench.rounds.to_string())
        .env("SPEED_TICKS", ticks)
        .env("SPEED_OUT", &out)
        .status()
        .context("run npm")?;
    ensure!(status.success(), "measure in a browser: {status}");
    let text = std::fs::read_to_string(&out).with_context(|| format!("read {}", out.display()))?;
    let mut figures = HashMap::new();
    for line in text.lines() {
        let figure: Value = serde_json::from_str(line).context("read a figure")?;
        let values = figure["values"].as_array().context("find the values of a figure")?;
        let values = values.iter().filter_map(Value::as_f64).collect();
        figures.insert(figure["name"].as_str().unwrap_or_default().to_owned(), values);
    }
    Ok(figures)
}

fn absolute(path: &Path) -> anyhow::Result<PathBuf> {
    path.canonicalize().with_context(|| format!("find {}", path.display()))
}

fn rows_of(figures: &HashMap<String, Vec<f64>>) -> Vec<Vec<String>> {
    let mut names: Vec<&String> = figures.keys().filter(|name| !name.starts_with("heap")).collect();
    names.sort();
    names.into_iter().map(|name| row(&format!("browser: {name}, ms"), &figures[name], None)).collect()
}

fn verdicts_of(figures: &HashMap<String, Vec<f64>>) -> Vec<Verdict> {
    let bars = [
        ("page's first paint", "first paint"),
        ("page opens an hour of 500 series", "opening the summary"),
        ("page zooms", "zoom into ten minutes"),
        ("page zooms into most of an hour", "zoom into 36 minutes"),
    ];
    let timed = bars.iter().filter_map(|(bar, name)| Some(judge(bar, estimate(figures.get(*name)?)?)));
    let heap = |name: &str| figures.get(name)?.first().copied();
    let growth = heap("heap before").zip(heap("heap after")).map(|(before, after)| after - before);
    let heap = growth
        .map(|mb| judge("page's heap, half an hour later", Estimate { mean: mb, lower: mb, upper: mb }));
    timed.chain(heap).collect()
}

/// The share of its core that the generator takes with a page open and without, in percent, round by round.
/// CPU of a run, in percent of its core.
#[derive(Clone, Copy)]
struct Share {
    all: f64,
    beside_workers: f64,
}

fn shares(bench: &Bench, rate: f64) -> anyhow::Result<(Vec<Share>, Vec<Share>)> {
    let mut shares = [Vec::new(), Vec::new()];
    for round in 0..bench.rounds as usize {
        // Every round begins with the other one.
        for turn in 0..2 {
            let kind = (round + turn) % 2;
            shares[kind].push(share(bench, rate, kind == 0)?);
        }
        let last = |shares: &Vec<Share>| shares.last().map_or(f64::NAN, |share| share.beside_workers);
        let [open, closed] = [&shares[0], &shares[1]].map(last);
        bench.progress(&format!(
            "round {} of {}: {open:.2} % beside the workers with a page open, {closed:.2} % without",
            round + 1,
            bench.rounds
        ));
    }
    Ok(shares.into())
}

fn share(bench: &Bench, rate: f64, is_looked_at: bool) -> anyhow::Result<Share> {
    let live = Live::start(bench, rate, RUN_S)?;
    let browser = is_looked_at.then(|| look(&live.address)).transpose()?;
    std::thread::sleep(STARTING);
    let (start, before) = (SystemClock::now(), live.cpu_s()?);
    std::thread::sleep(MEASURED);
    let took_s = SystemClock::now().since(start).as_secs_f64();
    let after = live.cpu_s()?;
    let percent = |cpu_s: f64| cpu_s / took_s * 100.0;
    let (all, workers) = (after.0 - before.0, after.1 - before.1);
    let share = Share { all: percent(all), beside_workers: percent(all - workers) };
    if let Some(mut browser) = browser {
        ensure!(browser.try_wait().context("look after the browser")?.is_none(), "keep the page open");
        end(&mut browser);
    }
    Ok(share)
}

/// A browser that leaves the page open, on the server's core.
fn look(address: &str) -> anyhow::Result<Child> {
    let seconds = STARTING.as_secs() + MEASURED.as_secs() + u64::from(RUN_S);
    pinned(server::CORE, Path::new("node"))
        .arg("tests/speed/look.mjs")
        .arg(format!("http://{address}/"))
        .arg(seconds.to_string())
        .current_dir(workspace::root().join("ui"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .context("start a browser")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_found_in_what_is_said() {
        let check = |text: &str, expect: Option<&str>| {
            assert_eq!(address_in(text.as_bytes()).ok().as_deref(), expect, "{text}");
        };
        check("page: http://127.0.0.1:41234/\n", Some("127.0.0.1:41234"));
        check("a line\nlevel=info page: http://127.0.0.1:1/runs/ab12cd34\n", Some("127.0.0.1:1"));
        check("nothing\n", None);
    }

    #[test]
    fn times_stand_behind_a_name_with_anything_in_it() {
        let stat = "7 (a ) b) S 1 7 7 0 -1 4194560 1 0 0 0 120 30 0 0 20 0 1 0 5";
        assert_eq!(ticks_in(stat), Some(150));
        assert_eq!(ticks_in("7 (a"), None);
    }
}
