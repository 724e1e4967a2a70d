//! `run_script`: runs a test within the user's limits.

use std::sync::TryLockError;

use serde_json::{Value, json};

use super::{Arguments, Kind, Outcome, Tool, Work, document, log, optional, quiet, required};
use crate::condense;
use crate::program::Patience;

pub(super) const TOOL: Tool = Tool {
    name: "run_script",
    description: "Run a k6 script as a load test, within the limits that the user set (hosts, VUs, duration, rate): a test beyond \
                  one is refused and names it. Returns after the end of the test with validity, caveats, verdict, thresholds, \
                  metrics and errors. The run is stored; read more of it with the other tools.",
    is_reading: false,
    arguments: &[
        required("script", Kind::Text, "Path of the script in the folder that the user opened"),
        optional("vus", Kind::Number, "VUs, instead of the script's scenarios"),
        optional("duration", Kind::Text, "Duration, such as 30s, instead of the script's scenarios"),
        optional("iterations", Kind::Number, "Iterations, instead of the script's scenarios"),
        optional("env", Kind::Variables, "Variables of the script (__ENV), beside those of the user"),
        optional("name", Kind::Text, "Name of the run"),
    ],
    call,
};

/// Share of the limit of the rate from which on requests may have waited for it.
const HELD_SHARE: f64 = 0.9;

/// Beginnings of names that would be options of the program.
const RESERVED: &[&str] = &["K6_", "PLIMSOLL_"];

/// Exit codes of a run, in words.
const EXITS: &[(i32, &str)] = &[
    (0, "passed"),
    (99, "a threshold was crossed"),
    (100, "setup() timed out"),
    (101, "teardown() timed out"),
    (104, "invalid options, or beyond a limit of the user"),
    (105, "stopped"),
    (107, "the script threw an exception"),
    (108, "the script aborted the test"),
    (110, "the script marked the test as failed"),
    (123, "passed, and not all of it is stored"),
];

fn call(work: &Work, arguments: &Arguments) -> Result<Outcome, String> {
    let script = work.program.script(arguments.text("script").unwrap_or_default())?;
    let mut words = vec!["run".to_owned(), "--summary-mode=disabled".to_owned(), "--no-page".to_owned()];
    words.extend(work.program.limits.clone());
    words.extend(changes(arguments)?);
    let reports = tempfile::tempdir().map_err(|error| format!("failed to create a folder: {error}"))?;
    let report = reports.path().join("report.json");
    words.push(format!("--report=json={}", report.display()));
    words.push(script);
    words.extend(quiet());
    let _running = match work.running.try_lock() {
        Err(TryLockError::WouldBlock) => {
            return Err("a run is in progress; two at once would measure each other".to_owned());
        }
        // A call that panicked left no run.
        Err(TryLockError::Poisoned(guard)) => guard.into_inner(),
        Ok(guard) => guard,
    };
    let printed = work.call(&words, Patience::Run)?;
    let meaning = EXITS.iter().find(|(code, _)| Some(*code) == printed.code).map(|(_, words)| *words);
    let meaning = meaning.unwrap_or("an error");
    let has_console = work.program.has_console;
    let read = std::fs::read(&report).ok().and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
    let Some(report) = read else {
        return Err(format!("The test did not run ({meaning}): {}", log::complaint(&printed, has_console)));
    };
    let mut summary = condense::summary(&report);
    if printed.is_late {
        add_caveat(&mut summary, "the run took too long and was ended".to_owned());
    }
    let limit = work.program.rate_max;
    if is_held(&report, f64::from(limit)) {
        add_caveat(
            &mut summary,
            format!(
                "requests were held at the limit of {limit}/s (--limit-rate): waiting for it is in no response time, and closed \
             scenarios sent less than they would have"
            ),
        );
    }
    summary["exit"] = json!({ "code": printed.code, "meaning": meaning });
    summary["log"] = Value::from(log::lines(&printed, has_console));
    document(condense::head(&summary), summary)
}

/// The words that change the test.
fn changes(arguments: &Arguments) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    for name in ["vus", "iterations"] {
        words.extend(arguments.number(name).map(|number| format!("--{name}={number}")));
    }
    for name in ["duration", "name"] {
        words.extend(arguments.text(name).map(|text| format!("--{name}={text}")));
    }
    for (name, value) in arguments.variables("env") {
        let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        if name.is_empty()
            || !name.chars().all(is_letter)
            || RESERVED.iter().any(|start| name.starts_with(start))
        {
            return Err(format!(
                "{name:?} is no name of a variable of a script: letters, digits and _, not K6_ or PLIMSOLL_"
            ));
        }
        words.push(format!("--env={name}={value}"));
    }
    Ok(words)
}

fn add_caveat(summary: &mut Value, caveat: String) {
    if let Some(caveats) = summary["caveats"].as_array_mut() {
        caveats.push(Value::from(caveat));
    }
}

/// Whether the rate of requests came close to the limit.
fn is_held(report: &Value, limit: f64) -> bool {
    let metrics = report["metrics"].as_array().into_iter().flatten();
    let requests = metrics.filter(|metric| metric["name"] == "http_reqs");
    requests.filter_map(|metric| number(&metric["values"]["rate"])).any(|rate| rate >= limit * HELD_SHARE)
}

/// A number, or the number of an object that has its precision beside it.
fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value["value"].as_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(arguments: Value) -> Result<Vec<String>, String> {
        changes(&Arguments(arguments.as_object().unwrap()))
    }

    #[test]
    fn arguments_become_flags() {
        let given = json!({ "vus": 3, "duration": "5s", "name": "-q", "env": { "A_1": "--x" } });
        assert_eq!(words(given).unwrap(), ["--vus=3", "--duration=5s", "--name=-q", "--env=A_1=--x"]);
        for name in ["K6_OUT", "PLIMSOLL_OUT", "", "A B", "A=B"] {
            assert!(words(json!({ "env": { name: "x" } })).is_err(), "{name}");
        }
    }

    #[test]
    fn a_rate_at_the_limit_is_noticed() {
        let report =
            |rate: Value| json!({ "metrics": [{ "name": "http_reqs", "values": { "rate": rate } }] });
        assert!(is_held(&report(json!(95.0)), 100.0));
        assert!(is_held(&report(json!({ "value": 95.0 })), 100.0));
        assert!(!is_held(&report(json!(50.0)), 100.0));
        assert!(!is_held(&json!({}), 100.0));
    }
}
