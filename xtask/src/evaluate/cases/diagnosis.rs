//! Whether a diagnosis names what was planted: each fault of the lab on its own, several times, and what has no bottleneck in the
//! target, by the program itself (`PLIMSOLL_BIN`).
//!
//! Which faults are held out follows from their names alone, so that nobody chooses them: what detectors were made with are the
//! others. Runs whose measurement is not valid are no evidence; they are counted and left out.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};
use serde_json::{Value, json};

use super::real::binary;
use crate::evaluate::page::{Bar, Table};
use crate::workspace;

/// Each fault of each system, and what has no bottleneck in the target.
pub(super) const PARTS: &[&str] = &[
    "appstore-healthy",
    "appstore-client-limited",
    "appstore-unobservable",
    "appstore-pool-too-small",
    "appstore-row-lock",
    "appstore-missing-index",
    "appstore-n-plus-one",
    "appstore-periodic-job",
    "appstore-cache-stampede",
    "appstore-gc-pauses",
    "appstore-slow-log-sync",
    "appstore-chatty-serialisation",
    "appstore-cpu-limit",
    "feed-healthy",
    "feed-client-limited",
    "feed-unobservable",
    "feed-accept-queue-overflow",
    "feed-slow-downstream",
    "feed-hot-key",
    "feed-connection-churn",
    "feed-bandwidth-limit",
    "feed-dns-delay",
    "feed-memory-limit",
    "ingress-healthy",
    "ingress-unobservable",
    "ingress-replica-imbalance",
    "ingress-head-of-line",
    "ingress-downstream-rate-limit",
    "ingress-generator-limit",
    "scan-healthy",
    "scan-unobservable",
    "scan-too-few-consumers",
    "scan-prefetch-too-small",
    "scan-scaler-ceiling",
    "scan-downstream-rate-limit",
    "scan-slow-downstream",
    "scan-memory-limit",
    "scan-redelivery",
];

/// Runs of a part.
const RUNS: usize = 6;

/// A run takes so long, in seconds.
const SECONDS: &str = "20s";

/// The exit codes of a run that was measured to its end, whatever thresholds and validity say.
const MEASURED: [i32; 2] = [0, 99];

const TOP_1_MIN: f64 = 0.85;
const TOP_3_MIN: f64 = 0.95;
const ABSTAINED_MIN: f64 = 0.9;
const HELD_OUT_CASES_MIN: usize = 60;

/// How a system is loaded while a fault shows.
struct Load {
    variant: &'static str,
    script: &'static str,
    /// Users, from run to run.
    vus: [&'static str; 3],
    /// Users while nothing is wrong.
    healthy_vus: &'static str,
}

fn load_of(system: &str) -> anyhow::Result<Load> {
    let load = |variant, script, vus, healthy_vus| Load { variant, script, vus, healthy_vus };
    Ok(match system {
        "appstore" => load("matview", "browse.js", ["8", "10", "14"], "4"),
        "feed" => load("cached", "steady.js", ["250", "300", "350"], "100"),
        "ingress" => load("two", "users.js", ["80", "100", "120"], "4"),
        "scan" => load("warm", "trickle.js", ["24", "40", "60"], "24"),
        other => bail!("load the system {other:?}"),
    })
}

/// What is done in a part, and what a diagnosis is to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Planted,
    Healthy,
    ClientLimited,
    Unobservable,
}

impl Kind {
    fn of(name: &str) -> Kind {
        match name {
            "healthy" => Kind::Healthy,
            "client-limited" | "generator-limit" => Kind::ClientLimited,
            "unobservable" => Kind::Unobservable,
            _ => Kind::Planted,
        }
    }

    /// The outcome that is right; for what is planted the label is.
    fn outcome(self) -> &'static str {
        match self {
            Kind::Planted => "limited",
            Kind::Healthy => "no_server_bottleneck",
            Kind::ClientLimited => "generator",
            Kind::Unobservable => "cannot_tell",
        }
    }
}

/// Whether a kind of fault is held out: by a hash of its name (FNV-1a, Fowler, Noll and Vo), so that it is held out in all systems.
fn is_held_out(fault: &str) -> bool {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    fault.bytes().fold(0xcbf2_9ce4_8422_2325, step).is_multiple_of(2)
}

pub(super) fn measure(part: &str) -> anyhow::Result<Value> {
    let (system, name) = part.split_once('-').context("read the part's name")?;
    let folder = std::env::temp_dir().join(format!("plimsoll-diagnosis-{}", std::process::id()));
    std::fs::create_dir_all(&folder).with_context(|| format!("create {}", folder.display()))?;
    let bench = Bench { plimsoll: binary("PLIMSOLL_BIN")?, folder, system: system.to_owned() };
    let measured = bench.part(name);
    // Whatever went wrong, nothing of it stays.
    let _ = bench.lab(&["down"]);
    std::fs::remove_dir_all(&bench.folder).with_context(|| format!("remove {}", bench.folder.display()))?;
    Ok(json!({ "system": system, "fault": name, "held_out": is_held_out(name), "runs": measured? }))
}

struct Bench {
    plimsoll: PathBuf,
    folder: PathBuf,
    system: String,
}

impl Bench {
    fn part(&self, name: &str) -> anyhow::Result<Vec<Value>> {
        let (load, kind) = (load_of(&self.system)?, Kind::of(name));
        let words =
            ["up", &self.system, "--variant", load.variant, "--pin", "--otlp", "http://127.0.0.1:4318"];
        self.lab(&words)?;
        let status: Value = serde_json::from_str(&self.lab(&["status", "--json", &self.system])?)?;
        let url = status[0]["url"].as_str().context("find the system's address")?;
        let core = status[0]["core"].as_u64().context("find the system's core")?;
        let label = self.label(name)?;
        if name == "generator-limit" || kind == Kind::Planted {
            self.lab(&["fault", &self.system, name, "on"])?;
        }
        let runs = (0..RUNS).map(|number| -> anyhow::Result<Value> {
            eprintln!("  run {} of {RUNS}", number + 1);
            let vus =
                if kind == Kind::Healthy { load.healthy_vus } else { load.vus[number % load.vus.len()] };
            let found = self.run(&load, kind, (url, core), vus)?;
            Ok(json!({ "vus": vus, "label": label, "diagnosis": found }))
        });
        runs.collect()
    }

    /// The label of a fault, as the catalogue has it; what is no fault has none.
    fn label(&self, name: &str) -> anyhow::Result<String> {
        let catalogue = std::fs::read_to_string(workspace::root().join("lab/faults.toml"))
            .context("read the catalogue")?;
        Ok(label_of(&catalogue, &self.system, name).unwrap_or_default())
    }

    /// One run and what is said of it.
    fn run(&self, load: &Load, kind: Kind, (url, core): (&str, u64), vus: &str) -> anyhow::Result<Value> {
        let script = self.script(load.script, kind)?;
        // A generator on the system's own core is the limit.
        let cores = if kind == Kind::ClientLimited {
            core.to_string()
        } else {
            format!("0-{}", core.saturating_sub(1))
        };
        let mut command = Command::new("taskset");
        command
            .args(["--cpu-list", &cores])
            .arg(&self.plimsoll)
            .args(["run", "--quiet", "--runs"])
            .arg(self.folder.join("runs"));
        if kind != Kind::Unobservable {
            command.args(["--otlp", "--trace-sample", "20%", "--evidence", "host=local"]);
        }
        let address = format!("{}={url}", self.system.to_uppercase());
        for variable in [address.as_str(), &format!("VUS={vus}"), &format!("DURATION={SECONDS}")] {
            command.args(["--env", variable]);
        }
        command.env("PLIMSOLL_LAB_DIR", self.labs()).stdout(Stdio::null()).stderr(Stdio::null());
        let status = command.arg(script).status().context("run the program")?;
        ensure!(
            status.code().is_some_and(|code| MEASURED.contains(&code)),
            "run the script to its end: {status}"
        );
        let mut command = Command::new(&self.plimsoll);
        let output =
            command.args(["diagnose", "@last", "--json", "--runs"]).arg(self.folder.join("runs")).output();
        let output = output.context("run the program")?;
        ensure!(output.status.success(), "diagnose: {}", String::from_utf8_lossy(&output.stderr));
        let found: Value = serde_json::from_slice(&output.stdout).context("read the diagnosis")?;
        let findings = found["findings"].as_array().map(Vec::as_slice).unwrap_or_default();
        let ranked: Vec<Value> = findings.iter().map(|finding| {
            json!({ "label": finding["label"], "place": finding["place"], "role": finding["role"], "explains": finding["explains"] })
        }).collect();
        Ok(json!({
            "outcome": found["outcome"], "headline": found["headline"], "validity": found["runs"][0]["grade"], "ranked": ranked,
        }))
    }

    /// The script; one that lies elsewhere is not known for the lab's, so that nobody is asked for evidence.
    fn script(&self, name: &str, kind: Kind) -> anyhow::Result<PathBuf> {
        let folder = workspace::root().join("lab").join(&self.system);
        if kind != Kind::Unobservable {
            return Ok(folder.join(name));
        }
        let elsewhere = self.folder.join("elsewhere");
        std::fs::create_dir_all(&elsewhere).context("create a folder")?;
        for entry in std::fs::read_dir(&folder).context("list the scripts")? {
            let path = entry.context("list the scripts")?.path();
            if let Some(file) = path.file_name().filter(|_| path.extension().is_some_and(|it| it == "js")) {
                std::fs::copy(&path, elsewhere.join(file)).context("copy a script")?;
            }
        }
        Ok(elsewhere.join(name))
    }

    fn labs(&self) -> PathBuf {
        self.folder.join("labs")
    }

    fn lab(&self, words: &[&str]) -> anyhow::Result<String> {
        let mut command = Command::new(&self.plimsoll);
        command.arg("lab").args(words).env("PLIMSOLL_LAB_DIR", self.labs());
        let output = command.output().context("run the program")?;
        let complaint = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "run plimsoll lab {}: {complaint}", words.join(" "));
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

/// The label that the catalogue has for a fault of a system.
fn label_of(catalogue: &str, system: &str, name: &str) -> Option<String> {
    let entries = catalogue.split("[[").filter(|entry| entry.starts_with("fault]]"));
    let text = |entry: &str, key: &str| {
        let lines =
            entry.lines().filter_map(|line| line.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"'));
        lines.map(str::to_owned).next()
    };
    let mut found = entries.filter(|entry| {
        text(entry, "system").as_deref() == Some(system) && text(entry, "name").as_deref() == Some(name)
    });
    text(found.next()?, "label")
}

/// Counts over runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    runs: usize,
    first: usize,
    among_three: usize,
    excluded: usize,
}

impl Counts {
    fn add(&mut self, other: Counts) {
        self.runs += other.runs;
        self.first += other.first;
        self.among_three += other.among_three;
        self.excluded += other.excluded;
    }
}

/// What a run of a part counts as; `confused` counts what was named first.
fn counted(kind: Kind, run: &Value, confused: &mut BTreeMap<(String, String), usize>) -> Counts {
    let found = &run["diagnosis"];
    let is_valid = found["validity"] == "valid";
    // Who limits the generator measures nothing that is valid.
    if !is_valid && kind != Kind::ClientLimited {
        return Counts { excluded: 1, ..Counts::default() };
    }
    if kind != Kind::Planted {
        let right = usize::from(found["outcome"] == kind.outcome());
        let named = found["outcome"].as_str().unwrap_or("nothing").to_owned();
        *confused.entry((kind.outcome().to_owned(), named)).or_default() += 1;
        return Counts { runs: 1, first: right, among_three: right, excluded: 0 };
    }
    let ranked = found["ranked"].as_array().map(Vec::as_slice).unwrap_or_default();
    let place = ranked.iter().position(|one| one["label"] == run["label"]);
    let named = ranked.first().and_then(|one| one["label"].as_str()).unwrap_or("nothing");
    let label = run["label"].as_str().unwrap_or("nothing");
    *confused.entry((label.to_owned(), named.to_owned())).or_default() += 1;
    Counts {
        runs: 1,
        first: usize::from(place == Some(0)),
        among_three: usize::from(place.is_some_and(|place| place < 3)),
        excluded: 0,
    }
}

pub(super) fn table(results: &[(&str, Value)]) -> Table {
    let titles = ["what is planted", "held out", "runs", "Top-1", "Top-3", "left out"];
    let mut table = Table { rows: vec![titles.map(str::to_owned).to_vec()], ..Table::default() };
    let mut confused = BTreeMap::new();
    let (mut tuned, mut held, mut abstained) = (Counts::default(), Counts::default(), Counts::default());
    for (part, result) in results {
        let name = part.split_once('-').map_or(*part, |(_, name)| name);
        let kind = Kind::of(name);
        let runs = result["runs"].as_array().map(Vec::as_slice).unwrap_or_default();
        let mut counts = Counts::default();
        runs.iter().for_each(|run| counts.add(counted(kind, run, &mut confused)));
        match (kind, is_held_out(name)) {
            (Kind::Planted, true) => held.add(counts),
            (Kind::Planted, false) => tuned.add(counts),
            _ => abstained.add(counts),
        }
        let is_held = if kind == Kind::Planted && is_held_out(name) { "yes" } else { "" };
        table.rows.push(row(&part.replacen('-', ": ", 1), is_held, counts));
    }
    table.rows.push(row("all that were not held out", "", tuned));
    table.rows.push(row("all that were held out", "yes", held));
    table.rows.push(row("healthy, client-limited, unobservable", "", abstained));
    table.bars = vec![
        bar("held out: named first", held.first, held.runs, TOP_1_MIN),
        bar("held out: among the first three", held.among_three, held.runs, TOP_3_MIN),
        bar("abstained rightly", abstained.first, abstained.runs, ABSTAINED_MIN),
        Bar {
            line: format!("held-out cases that count: {} (at least {HELD_OUT_CASES_MIN})", held.runs),
            reached: held.runs >= HELD_OUT_CASES_MIN,
        },
    ];
    table.notes = vec![confusion(&confused)];
    table
}

fn row(what: &str, is_held: &str, counts: Counts) -> Vec<String> {
    let share = |part: usize| match counts.runs {
        0 => "–".to_owned(),
        runs => format!("{:.0} %", part as f64 / runs as f64 * 100.0),
    };
    let cells = [what.to_owned(), is_held.to_owned(), counts.runs.to_string()];
    cells
        .into_iter()
        .chain([share(counts.first), share(counts.among_three), counts.excluded.to_string()])
        .collect()
}

fn bar(what: &str, part: usize, runs: usize, least: f64) -> Bar {
    let (low, high) = wilson(part, runs);
    let share = if runs == 0 { 0.0 } else { part as f64 / runs as f64 };
    Bar {
        line: format!(
            "{what}: {:.0} % of {runs} [{:.0} – {:.0}] (at least {:.0} %)",
            share * 100.0,
            low * 100.0,
            high * 100.0,
            least * 100.0
        ),
        reached: share >= least,
    }
}

/// The 95 % interval of a share (Wilson, 1927).
fn wilson(part: usize, runs: usize) -> (f64, f64) {
    if runs == 0 {
        return (0.0, 1.0);
    }
    let (n, p, z) = (runs as f64, part as f64 / runs as f64, stats::normal_quantile(0.975));
    let middle = (p + z * z / (2.0 * n)) / (1.0 + z * z / n);
    let half = z / (1.0 + z * z / n) * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
    ((middle - half).max(0.0), (middle + half).min(1.0))
}

/// What was named where it was wrong.
fn confusion(confused: &BTreeMap<(String, String), usize>) -> String {
    let wrong = confused.iter().filter(|((truth, named), _)| truth != named);
    let cells: Vec<String> =
        wrong.map(|((truth, named), count)| format!("{truth} → {named}: {count}")).collect();
    match cells.is_empty() {
        true => "Nothing was taken for anything else.".to_owned(),
        false => format!("What was taken for what: {}.", cells.join("; ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(label: &str, validity: &str, outcome: &str, ranked: &[&str]) -> Value {
        let ranked: Vec<Value> = ranked.iter().map(|label| json!({ "label": label })).collect();
        json!({ "label": label, "diagnosis": { "validity": validity, "outcome": outcome, "ranked": ranked } })
    }

    #[track_caller]
    fn check(kind: Kind, run: &Value, expect: [usize; 4]) {
        let found = counted(kind, run, &mut BTreeMap::new());
        assert_eq!([found.runs, found.first, found.among_three, found.excluded], expect);
    }

    #[test]
    fn runs_are_counted() {
        check(Kind::Planted, &run("a", "valid", "limited", &["a", "b"]), [1, 1, 1, 0]);
        check(Kind::Planted, &run("a", "valid", "limited", &["b", "c", "a"]), [1, 0, 1, 0]);
        check(Kind::Planted, &run("a", "valid", "limited", &["b", "c", "d", "a"]), [1, 0, 0, 0]);
        check(Kind::Planted, &run("a", "invalid", "limited", &["a"]), [0, 0, 0, 1]);
        check(Kind::Healthy, &run("", "valid", "no_server_bottleneck", &[]), [1, 1, 1, 0]);
        check(Kind::Healthy, &run("", "valid", "limited", &["a"]), [1, 0, 0, 0]);
        check(Kind::ClientLimited, &run("", "invalid", "generator", &[]), [1, 1, 1, 0]);
    }

    #[test]
    fn each_fault_of_the_catalogue_has_its_part() {
        let catalogue =
            std::fs::read_to_string(workspace::root().join("lab/faults.toml")).expect("the catalogue");
        let count = catalogue.split("[[").filter(|entry| entry.starts_with("fault]]")).count();
        let planted = PARTS.iter().filter(|part| {
            part.split_once('-').is_some_and(|(system, name)| label_of(&catalogue, system, name).is_some())
        });
        assert_eq!(planted.count(), count);
        assert_eq!(label_of(&catalogue, "scan", "memory-limit").as_deref(), Some("memory limit"));
        assert_eq!(label_of(&catalogue, "scan", "healthy"), None);
    }

    #[test]
    fn enough_is_held_out() {
        let is_planted =
            |part: &&&str| part.split_once('-').is_some_and(|(_, name)| Kind::of(name) == Kind::Planted);
        let planted: Vec<_> = PARTS.iter().filter(is_planted).collect();
        let held =
            planted.iter().filter(|part| part.split_once('-').is_some_and(|(_, name)| is_held_out(name)));
        let held = held.count();
        assert!(
            held * RUNS >= HELD_OUT_CASES_MIN && held < planted.len() * 3 / 4,
            "{held} of {}",
            planted.len()
        );
    }

    #[test]
    fn shares_have_intervals() {
        let (low, high) = wilson(9, 10);
        assert!((low - 0.596).abs() < 1e-3 && (high - 0.982).abs() < 1e-3, "{low} {high}");
        assert_eq!(wilson(0, 0), (0.0, 1.0));
    }
}
