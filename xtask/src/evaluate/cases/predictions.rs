//! Whether predictions hold: a system of the lab with something that limits it, the prediction that its diagnosis makes for the
//! remedy, the remedy, and the same load again, by the program itself (`PLIMSOLL_BIN`).
//!
//! A remedy takes a planted fault away, or is the next way to build the system. What is predicted is the first prediction of a
//! finding with the label that the remedy is for, wherever the finding stands; where there is none, that is counted. Users who go
//! round and round get as much as the system bears, so throughput is its maximum at so many users.

use anyhow::Context;
use model::SystemClock;
use model::diagnosis::FaultKind;
use serde_json::{Value, json};

use super::speed::median;
use crate::evaluate::lab::{Lab, Load, catalogue, label_of, usual, variant_of};
use crate::evaluate::page::{Bar, Table};

/// Remedies, at two loads each.
macro_rules! two_loads {
    ($($name:literal),* $(,)?) => {
        &[$(concat!($name, "-1"), concat!($name, "-2")),*]
    };
}

pub(super) const PARTS: &[&str] = two_loads![
    "projection",
    "matview",
    "cache",
    "third-ingress",
    "larger-pool",
    "index",
    "join",
    "shorter-transaction",
    "log-without-sync",
    "quicker-notifier",
    "names-kept",
    "several-connections",
    "balance",
    "more-consumers",
    "larger-prefetch",
    "higher-ceiling",
];

/// A run takes so long.
const DURATION: &str = "18s";

/// So long takes a case, about.
pub(super) const CASE_S: f64 = 58.0;

const COVERED_MIN: f64 = 0.8;
const ERROR_MAX: f64 = 0.15;

/// The remedy of a limit.
struct Remedy {
    name: &'static str,
    system: &'static str,
    change: Change,
    users: [&'static str; 2],
}

/// The difference between before and after.
enum Change {
    /// The system's variant.
    Variants(&'static str, &'static str),
    /// A fault that is taken away.
    Fault(&'static str),
}

const fn remedy(
    name: &'static str,
    system: &'static str,
    change: Change,
    users: [&'static str; 2],
) -> Remedy {
    Remedy { name, system, change, users }
}

const REMEDIES: &[Remedy] = &[
    remedy("projection", "appstore", Change::Variants("two-queries", "projection"), ["8", "16"]),
    remedy("matview", "appstore", Change::Variants("projection", "matview"), ["8", "16"]),
    remedy("cache", "feed", Change::Variants("plain", "cached"), ["400", "600"]),
    remedy("third-ingress", "ingress", Change::Variants("two", "three"), ["60", "100"]),
    remedy("larger-pool", "appstore", Change::Fault("pool-too-small"), ["24", "32"]),
    remedy("index", "appstore", Change::Fault("missing-index"), ["20", "28"]),
    remedy("join", "appstore", Change::Fault("n-plus-one"), ["16", "24"]),
    remedy("shorter-transaction", "appstore", Change::Fault("row-lock"), ["12", "18"]),
    remedy("log-without-sync", "appstore", Change::Fault("slow-log-sync"), ["14", "20"]),
    remedy("quicker-notifier", "feed", Change::Fault("slow-downstream"), ["260", "340"]),
    remedy("names-kept", "feed", Change::Fault("dns-delay"), ["260", "340"]),
    remedy("several-connections", "ingress", Change::Fault("head-of-line"), ["60", "100"]),
    remedy("balance", "ingress", Change::Fault("replica-imbalance"), ["60", "100"]),
    remedy("more-consumers", "scan", Change::Fault("too-few-consumers"), ["40", "56"]),
    remedy("larger-prefetch", "scan", Change::Fault("prefetch-too-small"), ["24", "40"]),
    remedy("higher-ceiling", "scan", Change::Fault("scaler-ceiling"), ["64", "80"]),
];

/// The labels whose remedy is one statement less, a cached answer, or one instance more.
const OF_VARIANTS: [FaultKind; 3] =
    [FaultKind::SlowStatement, FaultKind::MissingIndex, FaultKind::TooFewWorkers];

/// The labels of downstream services are known by two loads: the lower one has so many users.
const LOW: [(&str, &str); 1] = [("third-ingress", "6")];

fn find(part: &str) -> anyhow::Result<(&'static Remedy, &'static str)> {
    let (name, number) = part.rsplit_once('-').context("read the part's load")?;
    let remedy = REMEDIES.iter().find(|remedy| remedy.name == name).context("find the remedy")?;
    let load = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    let users = load.and_then(|load| remedy.users.get(load)).context("find the part's load")?;
    Ok((remedy, users))
}

pub(super) fn measure(part: &str) -> anyhow::Result<Value> {
    let began = SystemClock::now();
    let (remedy, vus) = find(part)?;
    let (script, share) = usual(remedy.system)?;
    let load = Load { script, vus, duration: DURATION, share, is_beside: false, is_unobserved: false };
    let (variant, labels): (&str, Vec<String>) = match remedy.change {
        Change::Variants(before, _) => (before, OF_VARIANTS.map(|fault| fault.as_str().to_owned()).to_vec()),
        Change::Fault(fault) => {
            let label = label_of(&catalogue()?, remedy.system, fault);
            (variant_of(remedy.system, fault), label.into_iter().collect())
        }
    };
    let mut lab = Lab::up(remedy.system, variant)?;
    if let Change::Fault(fault) = remedy.change {
        lab.fault(fault, true)?;
    }
    let low = LOW.iter().find(|(name, _)| *name == remedy.name);
    let before = match low {
        Some((_, vus)) => lab.run_both(&Load { vus, ..load.clone() }, &load)?,
        None => lab.run(&load)?,
    };
    match remedy.change {
        Change::Variants(_, after) => {
            drop(lab);
            lab = Lab::up(remedy.system, after)?;
        }
        Change::Fault(fault) => lab.fault(fault, false)?,
    }
    let after = lab.run(&load)?;
    drop(lab);
    let of_run = |found: &Value| {
        let run = found["runs"].as_array().and_then(|runs| runs.last()).cloned().unwrap_or_default();
        json!({ "validity": run["grade"], "per_s": run["throughput"]["value"] })
    };
    Ok(json!({
        "system": remedy.system,
        "vus": vus,
        "labels": labels,
        "before": of_run(&before),
        "after": of_run(&after),
        "predicted": predicted(&before, &labels),
        "took_s": SystemClock::now().since(began).as_secs_f64(),
    }))
}

/// The prediction for the remedy of a finding with one of these labels; null where there is none.
fn predicted(found: &Value, labels: &[String]) -> Value {
    let findings = found["findings"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_it = |finding: &&Value| labels.iter().any(|label| finding["label"] == **label);
    let mut those = findings.iter().filter(is_it).filter(|finding| finding["prediction"].is_object());
    let Some(finding) = those.next() else { return Value::Null };
    let then = &finding["prediction"]["then"];
    json!({
        "label": finding["label"],
        "change": finding["prediction"]["change"],
        "what": then["name"],
        "value": then["value"],
        "low": then["interval"]["low"],
        "high": then["interval"]["high"],
    })
}

/// The result of a case.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Came {
    /// A run was not VALID.
    LeftOut,
    /// Nothing was predicted.
    Unpredicted,
    /// It lies in the interval or not, and so far from the prediction, as a share of what was measured.
    Measured { is_covered: bool, error: f64 },
}

fn came(result: &Value) -> Came {
    let is_valid = |run: &str| result[run]["validity"] == "valid";
    if !is_valid("before") || !is_valid("after") {
        return Came::LeftOut;
    }
    let number = |name: &str| result["predicted"][name].as_f64();
    let (Some(value), Some(low), Some(high)) = (number("value"), number("low"), number("high")) else {
        return Came::Unpredicted;
    };
    let Some(measured) = result["after"]["per_s"].as_f64().filter(|per_s| *per_s > 0.0) else {
        return Came::LeftOut;
    };
    let error = (value - measured).abs() / measured;
    Came::Measured { is_covered: (low..=high).contains(&measured), error }
}

pub(super) fn table(results: &[(&str, Value)]) -> Table {
    let titles = ["remedy", "users", "before", "predicted", "90 % interval", "measured", "inside", "error"];
    let mut table = Table { rows: vec![titles.map(str::to_owned).to_vec()], ..Table::default() };
    let (mut covered, mut errors, mut unpredicted, mut left_out) = (0, Vec::new(), 0, 0);
    for (part, result) in results {
        let mut cells = shown(part, result);
        match came(result) {
            Came::LeftOut => {
                left_out += 1;
                cells.extend(["left out: not VALID".to_owned(), String::new()]);
            }
            Came::Unpredicted => {
                unpredicted += 1;
                cells.extend(["nothing was predicted".to_owned(), String::new()]);
            }
            Came::Measured { is_covered, error } => {
                covered += usize::from(is_covered);
                errors.push(error);
                cells.extend([
                    if is_covered { "yes" } else { "no" }.to_owned(),
                    format!("{:.0} %", error * 100.0),
                ]);
            }
        }
        table.rows.push(cells);
    }
    // A missing prediction counts as a wrong one.
    let cases = errors.len() + unpredicted;
    let share = covered as f64 / cases.max(1) as f64;
    let error = if errors.is_empty() { f64::INFINITY } else { median(&errors) };
    table.bars = vec![
        Bar {
            line: format!(
                "measured within the predicted interval: {covered} of {cases} (at least {:.0} %)",
                COVERED_MIN * 100.0
            ),
            reached: cases > 0 && share >= COVERED_MIN,
        },
        Bar {
            line: format!("median error {:.0} % (at most {:.0} %)", error * 100.0, ERROR_MAX * 100.0),
            reached: error <= ERROR_MAX,
        },
    ];
    table.notes = vec![format!(
        "Of {} cases, {left_out} are left out because a run was not VALID, and for {unpredicted} nothing was predicted.",
        results.len()
    )];
    table
}

fn shown(part: &str, result: &Value) -> Vec<String> {
    let rate = |value: &Value| value.as_f64().map_or_else(|| "–".to_owned(), |per_s| format!("{per_s:.1}/s"));
    let predicted = &result["predicted"];
    let interval = match predicted.is_object() {
        true => format!("{} – {}", rate(&predicted["low"]), rate(&predicted["high"])),
        false => "–".to_owned(),
    };
    vec![
        part.rsplit_once('-').map_or(part, |(name, _)| name).replace('-', " "),
        result["vus"].as_str().unwrap_or("–").to_owned(),
        rate(&result["before"]["per_s"]),
        rate(&predicted["value"]),
        interval,
        rate(&result["after"]["per_s"]),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_is_a_remedy_and_each_fault_is_in_the_catalogue() {
        let catalogue = catalogue().expect("the catalogue");
        for part in PARTS {
            let (remedy, _) = find(part).expect("a remedy");
            assert!(usual(remedy.system).is_ok(), "{part}");
            if let Change::Fault(fault) = remedy.change {
                assert!(label_of(&catalogue, remedy.system, fault).is_some(), "{part}");
            }
        }
        assert_eq!(PARTS.len(), REMEDIES.len() * 2);
        assert!(find("nothing-1").is_err() && find("index-3").is_err());
    }

    #[test]
    fn a_prediction_is_held_against_what_was_measured() {
        let case = |validity: &str, measured: f64, predicted: Value| {
            let run = |per_s: f64| json!({ "validity": validity, "per_s": per_s });
            came(&json!({ "before": run(50.0), "after": run(measured), "predicted": predicted }))
        };
        let interval = json!({ "value": 110.0, "low": 90.0, "high": 120.0 });
        let found = case("valid", 100.0, interval.clone());
        assert_eq!(found, Came::Measured { is_covered: true, error: 0.1 });
        assert!(matches!(case("valid", 200.0, interval.clone()), Came::Measured { is_covered: false, .. }));
        assert_eq!(case("degraded", 100.0, interval), Came::LeftOut);
        assert_eq!(case("valid", 100.0, Value::Null), Came::Unpredicted);
    }

    #[test]
    fn the_prediction_is_that_of_the_label() {
        let then = json!({ "name": "throughput", "value": 7.0, "interval": { "low": 6.0, "high": 8.0 } });
        let finding = |label: &str, prediction: Value| json!({ "label": label, "prediction": prediction });
        let found = json!({ "findings": [
            finding("other", json!({ "change": "x", "then": then })),
            finding("mine", Value::Null),
            finding("mine", json!({ "change": "y", "then": then })),
        ] });
        assert_eq!(predicted(&found, &["mine".to_owned()])["change"], "y");
        assert_eq!(predicted(&found, &["absent".to_owned()]), Value::Null);
    }
}
