//! Faults of the generator that are made on purpose, and runs without any: how often the verdict of validity is right.
//!
//! Needs root, for namespaces of the network; everything stays on loopback.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use model::{GeneratorState, Vital};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use runfile::Reader;
use serde_json::{Value, json};

use super::real::{Server, binary};
use crate::evaluate::page::{Bar, Table};
use crate::workspace;

/// Parts, so that little is lost when one is cut off: a kind and a number.
pub(super) const PARTS: &[&str] = &[
    "clean-paced-1",
    "clean-loop-1",
    "clean-namespace-1",
    "clean-paced-2",
    "clean-loop-2",
    "clean-namespace-2",
    "clean-paced-3",
    "clean-loop-3",
    "clean-namespace-3",
    "clean-paced-4",
    "clean-loop-4",
    "clean-namespace-4",
    "clean-paced-5",
    "clean-loop-5",
    "clean-namespace-5",
    "clean-paced-6",
    "clean-loop-6",
    "clean-namespace-6",
    "clean-paced-7",
    "clean-loop-7",
    "clean-namespace-7",
    "clean-paced-8",
    "clean-loop-8",
    "clean-namespace-8",
    "cpu-hog-1",
    "one-core-1",
    "ports-1",
    "timer-lag-1",
    "clock-step-1",
    "wrong-window-1",
    "cut-network-1",
];

const RUNS_PER_PART: usize = 5;
const SECONDS: u64 = 10;
const FLAGGED_MIN: f64 = 0.95;
const FALSE_ALARMS_MAX: f64 = 0.02;

/// A run that was left alone by us was not left alone by the host when other virtual machines took this share of the
/// processors: half a percent of two cores is a whole millisecond in every tenth of a second.
const STEAL_MIN: f64 = 0.005;

/// A network of its own, with a loopback interface and nothing else.
const NAMESPACE: &str = "plimsoll-evaluate";

/// Real-time priority for the processes of a run, so that other work on the machine does not disturb runs without a planted fault.
pub(super) const FIRST: &[&str] = &["chrt", "-r", "5"];

/// The niceness of the hog is only slightly better than the rest's: the machine must go on running.
const GREEDY: &[&str] = &["nice", "-n", "-15"];

/// The disturbance of a run.
struct Kind {
    name: &'static str,
    /// Whether something is done that the verdict should see.
    is_fault: bool,
    run: fn(&Lab) -> anyhow::Result<Value>,
}

const KINDS: &[Kind] = &[
    Kind { name: "clean-paced", is_fault: false, run: |lab| lab.run(&paced(), |_| Ok(())) },
    Kind { name: "clean-loop", is_fault: false, run: |lab| lab.run(&looping(20, 10, "0.1"), |_| Ok(())) },
    Kind { name: "clean-namespace", is_fault: false, run: clean_namespace },
    Kind { name: "cpu-hog", is_fault: true, run: cpu_hog },
    Kind { name: "one-core", is_fault: true, run: one_core },
    Kind { name: "ports", is_fault: true, run: ports },
    Kind { name: "timer-lag", is_fault: true, run: timer_lag },
    Kind { name: "clock-step", is_fault: true, run: |lab| lab.run(&edited(CLOCK_STEP), |_| Ok(())) },
    Kind { name: "wrong-window", is_fault: true, run: |lab| lab.run(&edited(WRONG_WINDOW), |_| Ok(())) },
    Kind { name: "cut-network", is_fault: true, run: cut_network },
];

/// The clock is set an hour forward in the middle of the run.
const CLOCK_STEP: &str =
    "UPDATE anchor SET wall_ns = wall_ns + 3600000000000 WHERE at_ns > (SELECT avg(at_ns) FROM anchor)";

/// The windows are of another time than the run: half of it later.
const WRONG_WINDOW: &str =
    "UPDATE windows SET start_ns = start_ns + 5000000000, end_ns = end_ns + 5000000000";

/// Edits a run's file as a program that knows nothing of it would.
const EDIT: &str =
    "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute(sys.argv[2]); c.commit()";

pub(super) fn measure(part: &str) -> anyhow::Result<Value> {
    let (kind, _) = part.rsplit_once('-').context("read the part")?;
    let kind = KINDS.iter().find(|known| known.name == kind).context("find the kind of run")?;
    let folder = std::env::temp_dir().join(format!("plimsoll-faults-{}", std::process::id()));
    std::fs::create_dir_all(&folder).with_context(|| format!("create {}", folder.display()))?;
    let lab = Lab { plimsoll: binary("PLIMSOLL_BIN")?, testkit: binary("TESTKIT_BIN")?, folder };
    let runs: anyhow::Result<Vec<Value>> = (0..RUNS_PER_PART)
        .map(|run| {
            let verdict = (kind.run)(&lab)?;
            eprintln!("  run {} of {RUNS_PER_PART}: {}", run + 1, verdict["line"]);
            Ok(verdict)
        })
        .collect();
    std::fs::remove_dir_all(&lab.folder).with_context(|| format!("remove {}", lab.folder.display()))?;
    Ok(json!({ "kind": kind.name, "is_fault": kind.is_fault, "seconds": SECONDS, "runs": runs? }))
}

/// The programs and files of a run.
struct Lab {
    plimsoll: PathBuf,
    testkit: PathBuf,
    folder: PathBuf,
}

/// How a run is made.
#[derive(Default)]
struct Setup {
    script: &'static str,
    env: Vec<(&'static str, String)>,
    /// Within [`NAMESPACE`], server and all.
    is_apart: bool,
    /// It takes all it can get, or competes with what does.
    is_greedy: bool,
    /// The cores that the program may use.
    cores: Option<&'static str>,
    /// The change of the stored run before it is judged again.
    edit: Option<&'static str>,
}

fn paced() -> Setup {
    Setup { script: "paced.js", ..Setup::default() }
}

fn looping(vus: u32, hold_ms: u32, pause_s: &str) -> Setup {
    let env = vec![("VUS", vus.to_string()), ("HOLD_MS", hold_ms.to_string()), ("PAUSE", pause_s.to_owned())];
    Setup { script: "loop.js", env, ..Setup::default() }
}

fn edited(sql: &'static str) -> Setup {
    Setup { edit: Some(sql), ..paced() }
}

fn clean_namespace(lab: &Lab) -> anyhow::Result<Value> {
    let _namespace = Namespace::make()?;
    lab.run(&Setup { is_apart: true, ..paced() }, |_| Ok(()))
}

/// Three busy loops on each core, that are as important to the system as anything.
fn cpu_hog(lab: &Lab) -> anyhow::Result<Value> {
    let seconds = (SECONDS + 2).to_string();
    let mut hogs = Vec::new();
    for core in ["0", "1"].repeat(3) {
        let before = [GREEDY, &["taskset", "-c", core, "timeout", &seconds]].concat();
        let mut hog = command_after(&before, Path::new("sh"));
        hog.args(["-c", "while :; do :; done"]);
        hogs.push(hog.spawn().context("start a busy loop")?);
    }
    let verdict = lab.run(&Setup { is_greedy: true, ..paced() }, |_| Ok(()));
    for mut hog in hogs {
        hog.wait().context("wait for a busy loop to end")?;
    }
    verdict
}

/// As many requests as possible, by two workers that have one core.
fn one_core(lab: &Lab) -> anyhow::Result<Value> {
    lab.run(&Setup { cores: Some("1"), is_greedy: true, ..looping(50, 0, "0") }, |_| Ok(()))
}

/// Thirty connections at a time from twenty ports.
fn ports(lab: &Lab) -> anyhow::Result<Value> {
    let namespace = Namespace::make()?;
    namespace.enter(&["sysctl", "-qw", "net.ipv4.ip_local_port_range=40000 40019"])?;
    namespace.enter(&["sysctl", "-qw", "net.ipv4.tcp_tw_reuse=0"])?;
    lab.run(&Setup { is_apart: true, env: vec![("FRESH", "true".to_owned())], ..paced() }, |_| Ok(()))
}

/// The program is stopped for 150 ms each second.
fn timer_lag(lab: &Lab) -> anyhow::Result<Value> {
    lab.run(&paced(), |program| {
        let id = Pid::from_raw(i32::try_from(program.id()).context("read the program's number")?);
        for _ in 1..SECONDS - 1 {
            std::thread::sleep(Duration::from_millis(850));
            kill(id, Signal::SIGSTOP).context("stop the program")?;
            std::thread::sleep(Duration::from_millis(150));
            kill(id, Signal::SIGCONT).context("let the program go on")?;
        }
        Ok(())
    })
}

/// Nothing passes for four seconds.
fn cut_network(lab: &Lab) -> anyhow::Result<Value> {
    let namespace = Namespace::make()?;
    lab.run(&Setup { is_apart: true, ..paced() }, |_| {
        std::thread::sleep(Duration::from_secs(3));
        namespace.enter(&["ip", "link", "set", "lo", "down"])?;
        std::thread::sleep(Duration::from_secs(4));
        namespace.enter(&["ip", "link", "set", "lo", "up"])
    })
}

impl Lab {
    /// One run from its start to the verdict on it. `meanwhile` does something to it.
    fn run(
        &self,
        setup: &Setup,
        meanwhile: impl FnOnce(&Child) -> anyhow::Result<()>,
    ) -> anyhow::Result<Value> {
        let apart: &[&str] = if setup.is_apart { &["ip", "netns", "exec", NAMESPACE] } else { &[] };
        let first = if setup.is_greedy { GREEDY } else { FIRST };
        let mut server = Server::start_with(&[apart, first].concat(), &self.testkit)?;
        let runs = self.folder.join("runs");
        // Leftovers of an earlier run do not belong to this one.
        let _ = std::fs::remove_dir_all(&runs);
        let pinned = setup.cores.map(|cores| ["taskset", "-c", cores]);
        let before = [apart, first, pinned.as_ref().map_or(&[][..], |words| &words[..])].concat();
        let mut command = command_after(&before, &self.plimsoll);
        command.args(["run", "--quiet", "--runs"]).arg(&runs);
        for (name, value) in &setup.env {
            command.arg("--env").arg(format!("{name}={value}"));
        }
        command.arg("--env").arg(format!("URL={}", server.url));
        command.arg("--env").arg(format!("SECONDS={SECONDS}"));
        command.arg(workspace::root().join("xtask/evaluate").join(setup.script));
        let program = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let mut program = program.context("start the program")?;
        let done = meanwhile(&program);
        let status = program.wait().context("wait for the program to end")?;
        server.stop()?;
        done?;
        ensure!(status.success(), "run the script to its end: {status}");
        if let Some(sql) = setup.edit {
            let edited = Command::new("python3").args(["-c", EDIT]).arg(stored_run(&runs)?).arg(sql).status();
            ensure!(edited.context("edit the run")?.success(), "edit the run");
        }
        self.verdict(&runs)
    }

    /// The stored run's own validity verdict.
    fn verdict(&self, runs: &Path) -> anyhow::Result<Value> {
        let mut command = Command::new(&self.plimsoll);
        command.args(["report", "--runs"]).arg(runs).args(["--format", "json", "@last"]);
        let output = command.output().context("read the report")?;
        let report: Value = serde_json::from_slice(&output.stdout).context("parse the report")?;
        let validity = &report["validity"];
        ensure!(validity.is_object(), "find the verdict of validity in the report");
        let faults: Vec<&Value> =
            validity["reasons"].as_array().into_iter().flatten().map(|reason| &reason["fault"]).collect();
        let busy = Busy::of(&stored_run(runs)?)?;
        Ok(json!({
            "grade": validity["grade"],
            "line": validity["line"],
            "faults": faults,
            "others_cpu": busy.others,
            "steal": busy.steal,
        }))
    }
}

/// The machine's other activity during a run, from the run's file: shares of all cores.
struct Busy {
    /// Everybody but the program, the server among them.
    others: f64,
    /// Other virtual machines.
    steal: f64,
}

impl Busy {
    fn of(path: &Path) -> anyhow::Result<Busy> {
        let reader = Reader::open(path).context("open the stored run")?;
        let states = reader.generator_states().context("read about the generator")?;
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get) as f64;
        let own = |state: &GeneratorState| -> f64 {
            let own = [Vital::WorkerCpu, Vital::OtherCpu];
            let own = state.readings.iter().filter(|reading| own.contains(&reading.vital));
            own.map(|reading| reading.value).sum::<f64>() / cores
        };
        let mean = |of: &dyn Fn(&GeneratorState) -> f64| {
            states.iter().map(of).sum::<f64>() / states.len().max(1) as f64
        };
        Ok(Busy {
            others: mean(&|state| (state.get(Vital::HostCpu).unwrap_or(0.0) - own(state)).max(0.0)),
            steal: mean(&|state| state.get(Vital::HostSteal).unwrap_or(0.0)),
        })
    }
}

fn stored_run(runs: &Path) -> anyhow::Result<PathBuf> {
    let entries = std::fs::read_dir(runs).with_context(|| format!("read {}", runs.display()))?;
    let mut paths = entries.flatten().map(|entry| entry.path());
    paths.find(|path| path.extension().is_some_and(|end| end == "plimsoll")).context("find the stored run")
}

/// The program, started by others that become it: `ip netns exec`, `taskset`.
pub(super) fn command_after(before: &[&str], program: &Path) -> Command {
    let Some((first, rest)) = before.split_first() else { return Command::new(program) };
    let mut command = Command::new(first);
    command.args(rest).arg(program);
    command
}

/// [`NAMESPACE`], for as long as this lives.
struct Namespace;

impl Namespace {
    fn make() -> anyhow::Result<Namespace> {
        // Left behind by a run that was cut off, perhaps.
        drop(Namespace);
        ensure!(ip(&["netns", "add", NAMESPACE])?, "make a network namespace, which takes root");
        let namespace = Namespace;
        namespace.enter(&["ip", "link", "set", "lo", "up"])?;
        Ok(namespace)
    }

    /// Runs a command in it.
    fn enter(&self, words: &[&str]) -> anyhow::Result<()> {
        if !ip(&[&["netns", "exec", NAMESPACE], words].concat())? {
            bail!("run {words:?} in a network namespace");
        }
        Ok(())
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let _ = ip(&["netns", "del", NAMESPACE]);
    }
}

fn ip(words: &[&str]) -> anyhow::Result<bool> {
    let status = Command::new("ip").args(words).stderr(Stdio::null()).status();
    Ok(status.context("run ip")?.success())
}

pub(super) fn table(results: &[(&str, Value)]) -> Table {
    let titles = [
        "what is done",
        "runs",
        "VALID",
        "NOT MEASURED",
        "DEGRADED",
        "INVALID",
        "first reason, most often",
        "cores busy with others: mean, most",
        "steal: most",
    ];
    let mut table = Table { rows: vec![titles.map(str::to_owned).to_vec()], ..Table::default() };
    let (mut faults, mut clean, mut disturbed) = ((0, 0), (0, 0), (0, 0));
    for kind in KINDS {
        let parts = results.iter().filter(|(_, result)| result["kind"] == kind.name);
        let runs: Vec<&Value> = parts.filter_map(|(_, result)| result["runs"].as_array()).flatten().collect();
        let name = kind.name.replace('-', " ");
        if kind.is_fault {
            table.rows.push(row(name, &runs, &mut faults));
            continue;
        }
        let (robbed, left_alone) = runs.into_iter().partition::<Vec<&Value>, _>(is_robbed);
        table.rows.push(row(name.clone(), &left_alone, &mut clean));
        table.rows.push(row(format!("{name}, by us; the host took 0.5 % or more"), &robbed, &mut disturbed));
    }
    let share = |(flagged, of): (usize, usize)| flagged as f64 / of.max(1) as f64;
    table.bars.push(Bar {
        line: format!("{} of {} runs with a fault are flagged (at least 95 %)", faults.0, faults.1),
        reached: share(faults) >= FLAGGED_MIN,
    });
    let aside = format!(
        "set aside: {} runs in which other virtual machines took 0.5 % or more of the processors, {} of them flagged",
        disturbed.1, disturbed.0
    );
    table.bars.push(Bar {
        line: format!("{} of {} clean runs are flagged (at most 2 %; {aside})", clean.0, clean.1),
        reached: share(clean) <= FALSE_ALARMS_MAX,
    });
    table
}

/// Whether other virtual machines took so much that the run was not left alone.
fn is_robbed(run: &&Value) -> bool {
    run["steal"].as_f64().is_some_and(|steal| steal >= STEAL_MIN)
}

/// The verdicts on the runs of a kind; those that were flagged, and all, are added to `sum`.
fn row(name: String, runs: &[&Value], sum: &mut (usize, usize)) -> Vec<String> {
    let count = |grade: &str| runs.iter().filter(|run| run["grade"] == grade).count();
    let grades = ["valid", "unmeasured", "degraded", "invalid"].map(count);
    *sum = (sum.0 + grades[2] + grades[3], sum.1 + runs.len());
    let mut row = vec![name, runs.len().to_string()];
    row.extend(grades.map(|count| count.to_string()));
    row.push(usual_reason(runs));
    row.extend(business(runs));
    row
}

/// How busy the machine was with anything but the program, the server among it, and how much other machines took.
fn business(runs: &[&Value]) -> [String; 2] {
    let all = |key: &str| runs.iter().filter_map(|run| run[key].as_f64()).collect::<Vec<f64>>();
    let (others, steal) = (all("others_cpu"), all("steal"));
    if others.is_empty() {
        // Measured before this was read.
        return ["–", "–"].map(str::to_owned);
    }
    let most = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
    let mean = others.iter().sum::<f64>() / others.len().max(1) as f64;
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    [format!("{}, {}", percent(mean), percent(most(&others))), percent(most(&steal))]
}

/// The first reason that most of the flagged runs have.
fn usual_reason(runs: &[&Value]) -> String {
    let flagged = runs.iter().filter(|run| run["grade"] == "degraded" || run["grade"] == "invalid");
    let mut counts = std::collections::BTreeMap::<&str, usize>::new();
    for reason in flagged.filter_map(|run| run["faults"][0].as_str()) {
        *counts.entry(reason).or_default() += 1;
    }
    let usual = counts.into_iter().max_by_key(|(_, count)| *count);
    usual.map_or_else(|| "–".to_owned(), |(reason, count)| format!("{} ({count})", reason.replace('_', " ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_of_a_kind() {
        for part in PARTS {
            let kind = part.rsplit_once('-').map(|(kind, _)| kind);
            assert!(KINDS.iter().any(|known| Some(known.name) == kind), "{part}");
        }
    }

    #[test]
    fn denominators_are_shown() {
        let runs = json!([
            { "grade": "valid", "faults": [], "others_cpu": 0.1, "steal": 0.0 },
            { "grade": "invalid", "faults": ["timer_lag", "start_lag"], "others_cpu": 0.3, "steal": 0.02 },
        ]);
        let results = [("timer-lag-1", json!({ "kind": "timer-lag", "runs": runs }))];
        let table = table(&results);
        let lines: Vec<&str> = table.bars.iter().map(|bar| bar.line.as_str()).collect();
        assert_eq!(lines[0], "1 of 2 runs with a fault are flagged (at least 95 %)");
        assert!(!table.bars[0].reached && table.bars[1].reached);
        let row = table.rows.iter().find(|row| row[0] == "timer lag").expect("its row");
        assert_eq!(row[1..], ["2", "1", "0", "0", "1", "timer lag (1)", "20.0 %, 30.0 %", "2.0 %"]);
    }
    #[test]
    fn what_the_host_disturbed_is_set_aside() {
        let run = |grade: &str, steal: f64| json!({ "grade": grade, "faults": [], "steal": steal });
        let runs =
            json!([run("valid", 0.0), run("invalid", 0.005), run("valid", 0.1), run("degraded", 0.004)]);
        let table = table(&[("clean-loop-1", json!({ "kind": "clean-loop", "runs": runs }))]);
        assert!(table.bars[1].line.starts_with("1 of 2 clean runs"), "{}", table.bars[1].line);
        assert!(table.bars[1].line.contains("set aside: 2 runs") && table.bars[1].line.contains("1 of them"));
        assert!(!table.bars[1].reached);
    }
}
