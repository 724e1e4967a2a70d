//! Confirms the maximum load of real systems: of a system of the lab, the search for it by the program itself
//! (`PLIMSOLL_BIN`), and then levels of their own, each twice as long as the search's longest: one at the load that is recommended,
//! which is to keep what was asked, and one above the interval, which is to break it.
//!
//! The truth is not known here. What is tried is what a person does with the answer: plan for the one, and do not go to the other.

use anyhow::{Context, ensure};
use model::SystemClock;
use serde_json::{Value, json};

use crate::evaluate::lab::{Lab, variant_of};
use crate::evaluate::page::{Bar, Table};

pub(super) const PARTS: &[&str] = &[
    "appstore-two-queries",
    "appstore-projection",
    "appstore-matview",
    "appstore-pool-too-small",
    "appstore-n-plus-one",
    "appstore-missing-index",
    "appstore-slow-log-sync",
    "appstore-chatty-serialisation",
    "feed-slow-downstream",
    "feed-hot-key",
    "feed-dns-delay",
    "ingress-one",
    "ingress-two",
    "ingress-three",
    "ingress-head-of-line",
    "scan-too-few-consumers",
];

/// So long takes a case, about, with what it takes to start the system.
pub(super) const CASE_S: f64 = 170.0;

const CONFIRMED_MIN: usize = 12;
const KEPT_MIN: f64 = 0.9;
const BROKEN_MIN: f64 = 0.9;

/// The search, short enough for a night of them.
const SEARCH: &str = "--warm-up 3s --step-min 6s --step-max 15s --hold 0s --budget 100s --tolerance 0.15";

/// A level that confirms or refutes.
const HOLD: &str = "--warm-up 3s --hold 30s --rest 4s";

/// Above the interval: so many times its upper bound.
const ABOVE: f64 = 1.1;

/// The load of a system, and its objectives.
struct Asked {
    script: &'static str,
    /// The search is for a rate, not for users.
    is_rate: bool,
    from: u32,
    to: u32,
    slo: &'static str,
}

fn asked(system: &str) -> anyhow::Result<Asked> {
    let of = |script, is_rate, from, to, slo| Asked { script, is_rate, from, to, slo };
    Ok(match system {
        "appstore" => of("first-page.js", true, 16, 2_000, "http_req_duration: p(95)<=200"),
        "feed" => of("steady.js", false, 20, 1_500, "http_req_duration: p(95)<=300"),
        "ingress" => of("users.js", false, 2, 600, "http_req_duration: p(95)<=200"),
        "scan" => of("trickle.js", false, 4, 200, "flow_duration: p(95)<=3000"),
        other => anyhow::bail!("load the system {other:?}"),
    })
}

/// The variants that are no faults of the variant that is well.
const VARIANTS: [&str; 6] = ["two-queries", "projection", "matview", "one", "two", "three"];

pub(super) fn measure(part: &str) -> anyhow::Result<Value> {
    let began = SystemClock::now();
    let (system, what) = part.split_once('-').context("read the part's name")?;
    let asked = asked(system)?;
    let is_variant = VARIANTS.contains(&what);
    let lab = Lab::up(system, if is_variant { what } else { variant_of(system, "") })?;
    if !is_variant {
        lab.fault(what, true)?;
    }
    let (from, to) = (asked.from.to_string(), asked.to.to_string());
    let mut words = vec!["capacity", "--from", &from, "--to", &to];
    words.extend(SEARCH.split(' '));
    if asked.is_rate {
        words.push("--rate");
    }
    let found = lab.study(asked.script, asked.slo, &words)?;
    let part = &found["parts"][0];
    let number = |value: &Value| value["value"].as_f64().or(value.as_f64());
    let line = &part["line"];
    let (load, lower) = (number(&line["load"]), number(&line["interval"]["lower"]));
    let upper = number(&line["interval"]["upper"]);
    let planned = number(&part["recommended"]["load"]);
    let at = |load: Option<f64>| load.map_or(Ok(Value::Null), |load| level(&lab, &asked, load));
    let recommended = at(planned)?;
    let above = at(upper.map(|upper| upper * ABOVE).filter(|_| line["place"] == "inside"))?;
    drop(lab);
    Ok(json!({
        "system": system,
        "what": what,
        "slo": asked.slo,
        "unit": if asked.is_rate { "/s" } else { "users" },
        "line": { "load": load, "lower": lower, "upper": upper, "place": line["place"] },
        "searched_s": part["levels"].as_array().map(|levels| levels.iter().filter_map(|level| number(&level["measured"])).sum::<f64>() / 1e3),
        "recommended": recommended,
        "above": above,
        "took_s": SystemClock::now().since(began).as_secs_f64(),
    }))
}

/// A level of its own at a load: whether it met its SLOs; null if it was not measured validly.
fn level(lab: &Lab, asked: &Asked, load: f64) -> anyhow::Result<Value> {
    // A fraction of a user is rounded down, and above the line one more is still above.
    let load = if asked.is_rate { format!("{load:.2}") } else { format!("{:.0}", load.max(1.0)) };
    let mut words = vec!["sweep", if asked.is_rate { "--rate" } else { "--vus" }, &load];
    words.extend(HOLD.split(' '));
    let found = lab.study(asked.script, asked.slo, &words)?;
    let levels = found["parts"][0]["levels"].as_array().map(Vec::as_slice).unwrap_or_default();
    ensure!(!levels.is_empty(), "find the level that was measured");
    let decides = levels.iter().rfind(|level| level["decides"] == true);
    let objective = decides.map(|level| &level["objectives"][0]);
    Ok(json!({
        "load": load.parse::<f64>().ok(),
        "value": objective.map(|it| it["value"]["value"].clone()),
        "is_kept": objective.map(|it| it["isKept"].clone()),
    }))
}

/// Levels that said something, and those of them that said what was to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    tried: usize,
    right: usize,
}

impl Counts {
    fn add(&mut self, is_kept: Option<bool>, expected: bool) {
        let Some(is_kept) = is_kept else { return };
        self.tried += 1;
        self.right += usize::from(is_kept == expected);
    }

    fn share(self) -> f64 {
        self.right as f64 / self.tried.max(1) as f64
    }
}

pub(super) fn table(results: &[(&str, Value)]) -> Table {
    let titles = [
        "system",
        "held to",
        "maximum load",
        "95 % interval",
        "recommended",
        "keeps it",
        "above",
        "breaks it",
    ];
    let mut table = Table { rows: vec![titles.map(str::to_owned).to_vec()], ..Table::default() };
    let (mut kept, mut broken) = (Counts::default(), Counts::default());
    let mut confirmed = 0;
    for (part, result) in results {
        kept.add(is_kept(result, "recommended"), true);
        broken.add(is_kept(result, "above"), false);
        confirmed += usize::from(is_kept(result, "recommended").is_some());
        table.rows.push(row(part, result));
    }
    table.bars = vec![
        Bar {
            line: format!(
                "systems at whose recommended load a level of its own was measured: {confirmed} (at least {CONFIRMED_MIN})"
            ),
            reached: confirmed >= CONFIRMED_MIN,
        },
        bar("recommended loads that keep what was asked", kept, KEPT_MIN),
        bar("loads above the interval that break it", broken, BROKEN_MIN),
    ];
    table
}

fn bar(what: &str, counts: Counts, least: f64) -> Bar {
    let Counts { tried, right } = counts;
    Bar {
        line: format!("{what}: {right} of {tried} (at least {:.0} %)", least * 100.0),
        reached: tried > 0 && counts.share() >= least,
    }
}

/// Whether a level kept what was asked, by its statistic alone: the search judges by the share of requests that break the limit, and
/// what confirms it is not to be judged by the same rule. `None` where it was not measured validly.
fn is_kept(result: &Value, level: &str) -> Option<bool> {
    let judged = result[level]["is_kept"].as_bool()?;
    let limit = result["slo"].as_str().and_then(|slo| slo.rsplit_once("<=")?.1.parse::<f64>().ok());
    // A statistic that lies among what failed has no value.
    Some(result[level]["value"].as_f64().zip(limit).map_or(judged, |(value, limit)| value <= limit))
}

fn row(part: &str, result: &Value) -> Vec<String> {
    let unit = result["unit"].as_str().unwrap_or_default();
    let shown = |value: &Value| value.as_f64().map_or_else(|| "–".to_owned(), |load| format!("{load:.0}"));
    let level = |level: &str, yes: &str, no: &str| {
        let value =
            result[level]["value"].as_f64().map_or_else(|| "failed".to_owned(), |ms| format!("{ms:.0} ms"));
        match is_kept(result, level) {
            Some(true) => format!("{yes}, {value}"),
            Some(false) => format!("{no}, {value}"),
            None if result[level].is_null() => "–".to_owned(),
            None => "not measured validly".to_owned(),
        }
    };
    let line = &result["line"];
    let (recommended, above) = (&result["recommended"], &result["above"]);
    vec![
        part.replacen('-', ": ", 1).replace('-', " "),
        result["slo"].as_str().unwrap_or("–").to_owned(),
        format!("{} {unit}", shown(&line["load"])),
        format!("{} – {}", shown(&line["lower"]), shown(&line["upper"])),
        shown(&recommended["load"]),
        level("recommended", "yes", "**no**"),
        shown(&above["load"]),
        level("above", "**no**", "yes"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_can_be_loaded() {
        for part in PARTS {
            let system = part.split_once('-').map(|(system, _)| system);
            assert!(asked(system.expect("a system")).is_ok(), "{part}");
        }
    }

    #[test]
    fn what_was_not_measured_confirms_nothing() {
        let level = |value: Option<f64>, is_kept: Option<bool>| json!({ "load": 10.0, "value": value, "is_kept": is_kept });
        let result = |kept, above| json!({ "slo": "d: p(95)<=200", "unit": "/s", "recommended": kept, "above": above });
        let results = [
            ("a-b", result(level(Some(90.0), Some(true)), level(None, Some(false)))),
            ("a-c", result(level(None, None), Value::Null)),
            // Whatever the search thinks of it, 184 are no more than 200.
            ("a-d", result(level(Some(300.0), Some(false)), level(Some(184.0), Some(false)))),
        ];
        let table = table(&results);
        assert_eq!(table.rows[1][5..], ["yes, 90 ms", "10", "yes, failed"]);
        assert_eq!(table.rows[2][5..], ["not measured validly", "–", "–"]);
        assert_eq!(table.rows[3][5..], ["**no**, 300 ms", "10", "**no**, 184 ms"]);
        let lines: Vec<&str> = table.bars.iter().map(|bar| bar.line.as_str()).collect();
        assert_eq!(lines[1], "recommended loads that keep what was asked: 1 of 2 (at least 90 %)");
        assert_eq!(lines[2], "loads above the interval that break it: 1 of 2 (at least 90 %)");
    }
}
