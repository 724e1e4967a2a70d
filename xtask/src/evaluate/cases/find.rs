//! `plimsoll find` with its defaults, beside a long `plimsoll capacity` of the same script against the same system: how far the safe
//! loads are apart, how long the quick answer takes, and what it says.
//!
//! The systems are the demo's shop, those of the lab with a fault each, and three of the gallery. A part takes up to 25 minutes on a
//! quiet machine.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};
use model::SystemClock;
use serde_json::{Value, json};

use super::generator_faults::{FIRST, command_after};
use super::real::{Server, binary};
use crate::evaluate::gallery::stack::{self, Load};
use crate::evaluate::gallery::system::System;
use crate::evaluate::lab::{Lab, variant_of};
use crate::evaluate::page::{Bar, Table};
use crate::workspace;

pub(super) const PARTS: &[&str] = &[
    "shop",
    "appstore",
    "feed",
    "ingress",
    "scan",
    "python-fastapi-pool-of-2",
    "node-express-pool-of-2",
    "java-spring-two-tomcat-threads",
];

/// So long takes a part, about.
pub(super) const PART_S: f64 = 1_200.0;

const APART_MAX: f64 = 0.1;
const FIND_S_MAX: f64 = 300.0;

/// The search that is the reference: long steps, a narrow interval and a hold.
const LONG: &str =
    "capacity --json --warm-up 5s --step-min 15s --step-max 60s --hold 60s --budget 15m --tolerance 0.05";

/// The reference looks so many times below and above the safe load that was found quickly.
const AROUND: f64 = 3.0;

/// The exit codes of a search that ran to its end: a load meets the objectives, none does, no step was valid.
const SEARCHED: [i32; 3] = [0, 99, 120];

/// A system that is up, with its load.
enum Target {
    Shop { server: Server, plimsoll: PathBuf, folder: PathBuf },
    Lab { lab: Lab, script: &'static str, slo: &'static str },
    Stack { system: Box<System>, load: Load },
}

pub(super) fn measure(part: &str) -> anyhow::Result<Value> {
    let target = Target::start(part)?;
    let began = SystemClock::now();
    let text = target.searched(&["find"])?;
    let took_s = SystemClock::now().since(began).as_secs_f64();
    let quick: Value = serde_json::from_str(&output(target.stored()?)?).context("read the search")?;
    let around = around(&quick["parts"][0]);
    let words: Vec<&str> = LONG.split(' ').chain(around.iter().map(String::as_str)).collect();
    let long: Value = serde_json::from_str(&target.searched(&words)?).context("read the long search")?;
    Ok(json!({
        "find": { "took_s": took_s, "text": text.trim_end(), "study": summary(&quick["parts"][0]) },
        "long": summary(&long["parts"][0]),
    }))
}

impl Target {
    fn start(part: &str) -> anyhow::Result<Target> {
        if part == "shop" {
            let (plimsoll, testkit) = (binary("PLIMSOLL_BIN")?, binary("TESTKIT_BIN")?);
            let folder = std::env::temp_dir().join(format!("plimsoll-find-{}", std::process::id()));
            std::fs::create_dir_all(&folder).with_context(|| format!("create {}", folder.display()))?;
            return Ok(Target::Shop { server: Server::start_as("shop", FIRST, &testkit)?, plimsoll, folder });
        }
        let (fault, script, slo) = match part {
            "appstore" => ("pool-too-small", "browse.js", "http_req_duration: p(95)<200"),
            "feed" => ("hot-key", "steady.js", "http_req_duration: p(95)<300"),
            "ingress" => ("head-of-line", "users.js", "http_req_duration: p(95)<200"),
            "scan" => ("too-few-consumers", "trickle.js", "flow_duration: p(95)<3000"),
            _ => {
                let (stack, case) = stack::find(part)?;
                let (system, load) = (Box::new(System::start(&stack, &case.setting())?), stack.load(&case));
                return Ok(Target::Stack { system, load });
            }
        };
        let lab = Lab::up(part, variant_of(part, fault))?;
        lab.fault(fault, true)?;
        Ok(Target::Lab { lab, script, slo })
    }

    /// The output of a search of the load.
    fn searched(&self, words: &[&str]) -> anyhow::Result<String> {
        let mut command = match self {
            Target::Shop { server, plimsoll, folder } => shop(server, plimsoll, folder, words),
            Target::Lab { lab, script, slo } => lab.searching(script, slo, words),
            Target::Stack { system, load } => {
                system.loading(load, &[words, &["--slo", "http_req_duration: p(95)<300"]].concat())?
            }
        };
        command.arg("--quiet");
        output(command)
    }

    /// The command that prints the last search as JSON.
    fn stored(&self) -> anyhow::Result<Command> {
        let runs = match self {
            Target::Shop { folder, .. } => folder.clone(),
            Target::Lab { lab, .. } => lab.runs(),
            Target::Stack { system, .. } => system.runs(),
        };
        let mut command = Command::new(binary("PLIMSOLL_BIN")?);
        command.args(["capacity", "--of", "@last", "--json", "--runs"]).arg(runs);
        Ok(command)
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        if let Target::Shop { server, folder, .. } = self {
            // It is in the folder of temporary files, and the server ends with its input in any case.
            let _ = (server.stop(), std::fs::remove_dir_all(folder));
        }
    }
}

fn shop(server: &Server, plimsoll: &Path, folder: &Path, words: &[&str]) -> Command {
    let mut command = command_after(&[], plimsoll);
    command.args(words).args(["--slo", "checkout_time: p(95)<100", "--slo", "http_req_failed: rate<0.01"]);
    command.arg("--evidence").arg(format!("shop:scrape={}/metrics", server.url));
    command.arg("--env").arg(format!("SHOP={}", server.url)).arg("--runs").arg(folder);
    command.arg(workspace::root().join("examples/shop.js"));
    command
}

fn output(mut command: Command) -> anyhow::Result<String> {
    let output = command.output().context("run the program")?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.code().is_some_and(|code| SEARCHED.contains(&code)),
        "{:?}: {}\n{complaint}",
        command.get_args().next().unwrap_or_default(),
        output.status
    );
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The range of the reference, and its unit.
fn around(part: &Value) -> Vec<String> {
    let safe = number(&part["recommended"]["load"]).unwrap_or(1.0);
    let bound = |load: f64| load.round().max(1.0).to_string();
    let mut words = vec!["--from".to_owned(), bound(safe / AROUND), "--to".to_owned(), bound(safe * AROUND)];
    words.extend((part["unit"] == "per_second").then(|| "--rate".to_owned()));
    words
}

fn summary(part: &Value) -> Value {
    json!({
        "unit": part["unit"],
        "verdict": part["verdict"],
        "safe": number(&part["recommended"]["load"]),
        "safe_per_s": number(&part["recommended"]["throughput"]),
        "line": number(&part["line"]["load"]),
        "lower": part["line"]["interval"]["lower"],
        "upper": part["line"]["interval"]["upper"],
        "sentence": part["sentence"],
    })
}

fn number(value: &Value) -> Option<f64> {
    value["value"].as_f64()
}

/// The difference of the two safe loads, as a share of the long search's.
fn apart(result: &Value) -> Option<f64> {
    let (quick, long) = (result["find"]["study"]["safe"].as_f64()?, result["long"]["safe"].as_f64()?);
    (long > 0.0).then(|| (quick / long - 1.0).abs())
}

pub(super) fn table(results: &[(&str, Value)]) -> Table {
    let titles =
        ["system", "find: safe load", "interval of its maximum", "took", "long capacity: safe load", "apart"];
    let row = |(part, result): &(&str, Value)| {
        let (quick, long) = (&result["find"]["study"], &result["long"]);
        let unit = if quick["unit"] == "per_second" { "/s" } else { " VUs" };
        let load = |value: &Value| value.as_f64().map_or("–".to_owned(), |load| format!("{load:.0}{unit}"));
        vec![
            (*part).to_owned(),
            load(&quick["safe"]),
            format!("{} – {}", load(&quick["lower"]), load(&quick["upper"])),
            format!("{:.0} s", result["find"]["took_s"].as_f64().unwrap_or(0.0)),
            load(&long["safe"]),
            apart(result).map_or("–".to_owned(), |apart| format!("{:.0} %", apart * 100.0)),
        ]
    };
    let bars = results.iter().flat_map(|(part, result)| {
        let (apart, took_s) = (apart(result), result["find"]["took_s"].as_f64().unwrap_or(f64::INFINITY));
        let shown = apart.map_or("not comparable".to_owned(), |apart| format!("{:.0} %", apart * 100.0));
        [
            Bar {
                line: format!(
                    "{part}: the safe load of find is {shown} from that of a long capacity (at most 10 %)"
                ),
                reached: apart.is_some_and(|apart| apart <= APART_MAX),
            },
            Bar {
                line: format!("{part}: find takes {took_s:.0} s (at most {FIND_S_MAX:.0} s)"),
                reached: took_s <= FIND_S_MAX,
            },
        ]
    });
    let said = |(part, result): &(&str, Value)| {
        format!("{part}:\n\n```text\n{}\n```", result["find"]["text"].as_str().unwrap_or_default())
    };
    Table {
        rows: std::iter::once(titles.map(str::to_owned).to_vec()).chain(results.iter().map(row)).collect(),
        bars: bars.collect(),
        notes: results.iter().map(said).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_safe_load_is_compared_with_that_of_the_long_search() {
        let result = |quick: f64, long: f64| {
            json!({
                "find": { "took_s": 240.0, "text": "Safe load", "study": { "unit": "vus", "safe": quick } },
                "long": { "safe": long },
            })
        };
        let (near, far) = (result(95.0, 100.0), result(80.0, 100.0));
        let table = table(&[("near", near), ("far", far), ("none", json!({}))]);
        let missed: Vec<&str> = table.missed().collect();
        assert_eq!(missed.len(), 3, "{missed:?}");
        assert!(missed[0].contains("far: the safe load of find is 20 %"), "{missed:?}");
        assert_eq!(table.rows[1][5], "5 %");
    }

    #[test]
    fn the_long_search_looks_around_the_quick_one() {
        let part = json!({ "unit": "per_second", "recommended": { "load": { "value": 30.0 } } });
        assert_eq!(around(&part), ["--from", "10", "--to", "90", "--rate"]);
        assert_eq!(around(&json!({})), ["--from", "1", "--to", "3"]);
    }
}
