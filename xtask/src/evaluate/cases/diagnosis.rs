//! Whether a diagnosis names the planted fault: each fault of the lab on its own, and systems without a bottleneck, with the program
//! itself (`PLIMSOLL_BIN`).
//!
//! **Held-out cases.** A case is a kind of fault, a system, and one of four loads. While the detectors were written, runs of nearly
//! all kinds were inspected, so no kind as such can be held out; those runs had 10, 300, 100 and 24 users, which no case has. Of the
//! four cases of a kind and a system, one may be inspected while detectors are changed; the other three are inspected only when the
//! detectors are final. A hash of the kind and the system selects that one. If a held-out case was inspected and a detector changed
//! because of it, replace its load by a new one.
//!
//! Top-1: the planted label is the first finding *and* the diagnosis says that it limits. Top-3: it is among the first three, in any
//! role. Runs whose measurement is invalid are counted and left out.

use std::collections::BTreeMap;

use anyhow::Context;
use model::SystemClock;
use serde_json::{Value, json};

use crate::evaluate::lab::{Lab, Load, catalogue, label_of, usual, variant_of};
use crate::evaluate::page::{Bar, Table};

/// Four loads of each.
macro_rules! four_loads {
    ($($name:literal),* $(,)?) => {
        &[$(concat!($name, "-1"), concat!($name, "-2"), concat!($name, "-3"), concat!($name, "-4")),*]
    };
}

/// Each fault of each system, and what has no bottleneck in the target.
pub(super) const PARTS: &[&str] = four_loads![
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

/// A run takes so long; where users pause between requests, it takes longer until as many wait as will.
const DURATION: &str = "20s";
const DURATION_OF_FEED: &str = "40s";

/// So long takes a case, about, with what it takes to start the system.
pub(super) const CASE_S: f64 = 40.0;

const TOP_1_MIN: f64 = 0.85;
const TOP_3_MIN: f64 = 0.95;
const ABSTAINED_MIN: f64 = 0.9;
const HELD_OUT_CASES_MIN: usize = 60;

/// Loads of a system, by what is done to it. What is planted has to limit at each of them, and what is well has to bear them.
const USERS: &[(&str, &str, [&str; 4])] = &[
    ("appstore", "healthy", ["3", "4", "5", "6"]),
    // On the store's own core, where fewer leave capacity for both.
    ("appstore", "client-limited", ["180", "220", "240", "200"]),
    ("appstore", "pool-too-small", ["20", "24", "28", "32"]),
    ("appstore", "row-lock", ["12", "14", "16", "18"]),
    ("appstore", "slow-log-sync", ["12", "14", "16", "18"]),
    ("appstore", "cpu-limit", ["64", "72", "80", "88"]),
    ("appstore", "periodic-job", ["6", "7", "8", "9"]),
    // Of fewer users than the pool has connections, none waits for one.
    ("appstore", "", ["5", "6", "7", "8"]),
    ("feed", "healthy", ["80", "90", "110", "120"]),
    // Of fewer users hardly one meets a full queue, and of more most wait for so long that they are in no metric.
    ("feed", "accept-queue-overflow", ["70", "64", "76", "84"]),
    ("feed", "memory-limit", ["420", "460", "500", "540"]),
    ("feed", "", ["260", "280", "320", "340"]),
    ("ingress", "healthy", ["3", "4", "5", "6"]),
    ("ingress", "", ["80", "90", "110", "120"]),
    ("scan", "healthy", ["16", "20", "28", "32"]),
    ("scan", "too-few-consumers", ["32", "40", "48", "56"]),
    ("scan", "scaler-ceiling", ["64", "72", "80", "96"]),
    ("scan", "slow-downstream", ["86", "88", "92", "94"]),
    ("scan", "", ["28", "36", "44", "52"]),
];

/// A case: what is done to a system, and at which of its loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LoadCase<'a> {
    system: &'a str,
    name: &'a str,
    load: usize,
}

impl<'a> LoadCase<'a> {
    fn parse(part: &'a str) -> anyhow::Result<LoadCase<'a>> {
        let (rest, number) = part.rsplit_once('-').context("read the part's load")?;
        let (system, name) = rest.split_once('-').context("read the part's name")?;
        let load = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        Ok(LoadCase { system, name, load: load.context("read the part's load")? })
    }

    fn kind(self) -> Kind {
        Kind::of(self.name)
    }

    fn users(self) -> anyhow::Result<&'static str> {
        let of = |name: &str| USERS.iter().find(|(system, what, _)| *system == self.system && *what == name);
        let (.., users) = of(self.name).or_else(|| of("")).context("find the part's load")?;
        users.get(self.load).copied().context("find the part's load")
    }

    /// Whether the case is held out while detectors are written: three of each four (FNV-1a, Fowler, Noll and Vo).
    fn is_held_out(self) -> bool {
        let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        let hash = self.system.bytes().chain(self.name.bytes()).fold(0xcbf2_9ce4_8422_2325, step);
        (hash >> 32) % 4 != self.load as u64
    }
}

/// The steps of a part, and the expected diagnosis.
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

pub(super) fn measure(part: &str) -> anyhow::Result<Value> {
    let began = SystemClock::now();
    let case = LoadCase::parse(part)?;
    let (kind, (script, share)) = (case.kind(), usual(case.system)?);
    let vus = case.users()?;
    let label = label_of(&catalogue()?, case.system, case.name).unwrap_or_default();
    let lab = Lab::up(case.system, variant_of(case.system, case.name))?;
    if !label.is_empty() {
        lab.fault(case.name, true)?;
    }
    let load = Load {
        script,
        vus,
        duration: if case.system == "feed" { DURATION_OF_FEED } else { DURATION },
        share,
        is_beside: case.name == "client-limited",
        is_unobserved: kind == Kind::Unobservable,
    };
    let found = lab.run(&load)?;
    drop(lab);
    Ok(json!({
        "system": case.system,
        "fault": case.name,
        "vus": vus,
        "held_out": case.is_held_out(),
        "label": label,
        "diagnosis": brief(&found),
        "took_s": SystemClock::now().since(began).as_secs_f64(),
    }))
}

/// Of a diagnosis, what is counted.
fn brief(found: &Value) -> Value {
    let findings = found["findings"].as_array().map(Vec::as_slice).unwrap_or_default();
    let one = |finding: &Value| {
        json!({
            "label": finding["label"],
            "place": finding["place"],
            "role": finding["role"],
            "explains": finding["explains"],
        })
    };
    json!({
        "outcome": found["outcome"],
        "headline": found["headline"],
        "validity": found["runs"][0]["grade"],
        "ranked": findings.iter().map(one).collect::<Vec<_>>(),
    })
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

/// The score of a part's run; `confused` counts the labels named first.
fn counted(kind: Kind, run: &Value, confused: &mut BTreeMap<(String, String), usize>) -> Counts {
    let found = &run["diagnosis"];
    let is_valid = found["validity"] == "valid";
    // A run that was limited by the generator measures nothing that is valid.
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
        first: usize::from(place == Some(0) && found["outcome"] == kind.outcome()),
        among_three: usize::from(place.is_some_and(|place| place < 3)),
        excluded: 0,
    }
}

pub(super) fn table(results: &[(&str, Value)]) -> Table {
    let titles =
        ["what is planted", "runs held out", "Top-1", "Top-3", "left out", "runs looked at", "Top-1"];
    let mut table = Table { rows: vec![titles.map(str::to_owned).to_vec()], ..Table::default() };
    let mut confused = BTreeMap::new();
    let mut rows: BTreeMap<(&str, &str), (Counts, Counts)> = BTreeMap::new();
    let (mut held, mut looked, mut abstained) = (Counts::default(), Counts::default(), Counts::default());
    let mut longest_s = 0.0_f64;
    for (part, result) in results {
        let Ok(case) = LoadCase::parse(part) else { continue };
        let mut unused = BTreeMap::new();
        let is_planted = case.kind() == Kind::Planted;
        let is_counted = !is_planted || case.is_held_out();
        let counts = counted(case.kind(), result, if is_counted { &mut confused } else { &mut unused });
        let row = rows.entry((case.system, case.name)).or_default();
        let (of_row, of_all) = match (is_planted, case.is_held_out()) {
            (true, false) => (&mut row.1, &mut looked),
            (true, true) => (&mut row.0, &mut held),
            (false, _) => (&mut row.0, &mut abstained),
        };
        of_row.add(counts);
        of_all.add(counts);
        longest_s = longest_s.max(result["took_s"].as_f64().unwrap_or(0.0));
    }
    for ((system, name), (held, looked)) in rows {
        table.rows.push(row(&format!("{system}: {name}"), held, looked));
    }
    table.rows.push(row("all faults", held, looked));
    table.rows.push(row("healthy, client-limited, unobservable", abstained, Counts::default()));
    table.bars = vec![
        bar("held out: named first, as what limits", held.first, held.runs, TOP_1_MIN),
        bar("held out: among the first three", held.among_three, held.runs, TOP_3_MIN),
        bar("abstained rightly", abstained.first, abstained.runs, ABSTAINED_MIN),
        Bar {
            line: format!("held-out cases that count: {} (at least {HELD_OUT_CASES_MIN})", held.runs),
            reached: held.runs >= HELD_OUT_CASES_MIN,
        },
    ];
    let excluded = held.excluded + looked.excluded + abstained.excluded;
    table.notes = vec![
        format!(
            "{excluded} of {} runs were not VALID and are left out. The longest case took {longest_s:.0} s.",
            results.len()
        ),
        confusion(&confused),
    ];
    table
}

fn row(what: &str, held: Counts, looked: Counts) -> Vec<String> {
    let share = |part: usize, runs: usize| match runs {
        0 => "–".to_owned(),
        runs => format!("{:.0} %", part as f64 / runs as f64 * 100.0),
    };
    vec![
        what.to_owned(),
        held.runs.to_string(),
        share(held.first, held.runs),
        share(held.among_three, held.runs),
        (held.excluded + looked.excluded).to_string(),
        looked.runs.to_string(),
        share(looked.first, looked.runs),
    ]
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

/// The label that was named where it was wrong.
fn confusion(confused: &BTreeMap<(String, String), usize>) -> String {
    let wrong = confused.iter().filter(|((truth, named), _)| truth != named);
    let cells: Vec<String> =
        wrong.map(|((truth, named), count)| format!("{truth} → {named}: {count}")).collect();
    match cells.is_empty() {
        true => "No fault was confused with another.".to_owned(),
        false => format!("Confused (planted → named first): {}.", cells.join("; ")),
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
        check(Kind::Planted, &run("a", "valid", "no_server_bottleneck", &["a", "b"]), [1, 0, 1, 0]);
        check(Kind::Planted, &run("a", "valid", "limited", &["b", "c", "a"]), [1, 0, 1, 0]);
        check(Kind::Planted, &run("a", "valid", "limited", &["b", "c", "d", "a"]), [1, 0, 0, 0]);
        check(Kind::Planted, &run("a", "invalid", "limited", &["a"]), [0, 0, 0, 1]);
        check(Kind::Healthy, &run("", "valid", "no_server_bottleneck", &[]), [1, 1, 1, 0]);
        check(Kind::Healthy, &run("", "valid", "limited", &["a"]), [1, 0, 0, 0]);
        check(Kind::ClientLimited, &run("", "invalid", "generator", &[]), [1, 1, 1, 0]);
    }

    #[test]
    fn each_fault_of_the_catalogue_has_its_cases() {
        let catalogue = catalogue().expect("the catalogue");
        let count = catalogue.split("[[").filter(|entry| entry.starts_with("fault]]")).count();
        let cases: Vec<LoadCase<'_>> =
            PARTS.iter().map(|part| LoadCase::parse(part).expect("a case")).collect();
        let planted = cases.iter().filter(|case| label_of(&catalogue, case.system, case.name).is_some());
        assert_eq!(planted.count(), count * 4);
        assert!(cases.iter().all(|case| case.users().is_ok() && usual(case.system).is_ok()));
        assert_eq!(label_of(&catalogue, "scan", "memory-limit").as_deref(), Some("memory limit"));
        assert_eq!(label_of(&catalogue, "scan", "healthy"), None);
    }

    #[test]
    fn three_of_four_are_held_out_and_none_was_seen() {
        let cases: Vec<LoadCase<'_>> =
            PARTS.iter().map(|part| LoadCase::parse(part).expect("a case")).collect();
        for four in cases.chunks(4) {
            assert_eq!(four.iter().filter(|case| case.is_held_out()).count(), 3, "{four:?}");
        }
        let held = cases.iter().filter(|case| case.is_held_out() && case.kind() == Kind::Planted).count();
        assert!(held >= HELD_OUT_CASES_MIN * 5 / 4, "{held}");
        let seen = [("appstore", "10"), ("feed", "300"), ("ingress", "100"), ("scan", "24")];
        let is_seen = |case: &LoadCase<'_>| seen.contains(&(case.system, case.users().unwrap_or_default()));
        assert_eq!(cases.iter().find(|case| is_seen(case)), None);
    }

    #[test]
    fn shares_have_intervals() {
        let (low, high) = wilson(9, 10);
        assert!((low - 0.596).abs() < 1e-3 && (high - 0.982).abs() < 1e-3, "{low} {high}");
        assert_eq!(wilson(0, 0), (0.0, 1.0));
    }
}
