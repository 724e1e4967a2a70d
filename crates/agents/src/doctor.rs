//! `plimsoll doctor --kubernetes`: checks that a cluster can run agents.

use std::time::Duration;

use kubernetes::doctor::{Check, examine};
use report::escape;
use runs::{Exit, Failure};
use serde_json::json;
use session::Context;
use session::cluster::client;
use session::terminal::print;

use crate::ClusterDoctorFlags;

/// The address of a hub that is not there yet: the checks do not depend on it.
const NO_HUB: &str = "hub.invalid:7000";

/// Deadline of the Job that the server checks.
const DEADLINE: Duration = Duration::from_secs(3600);

/// Runs the checks. The exit code is 255 if a run is impossible.
///
/// # Errors
/// A flag is invalid, or no cluster is configured.
pub fn run(flags: &ClusterDoctorFlags, is_json: bool, context: &Context) -> Result<Exit, Failure> {
    let mut asked = flags.cluster.asked(Some(NO_HUB.to_owned()));
    asked.pods.image.get_or_insert_with(|| concat!("plimsoll:", env!("CARGO_PKG_VERSION")).to_owned());
    let (settings, _) = asked.resolve(None)?;
    let client = client(&flags.cluster.asked(None).access, context)?;
    let access = client.access();
    let name = "plimsoll-doctor".to_owned();
    let shape = settings.shape(&access.namespace, name, flags.agents.unwrap_or(1), DEADLINE);
    let checks = examine(&client, &shape, flags.hub_in_cluster);
    let is_well = !checks.iter().any(|check| check.outcome.as_ref().is_err_and(|missing| missing.is_fatal));
    let title = format!("{}, namespace {}, {}", access.server, access.namespace, access.origin);
    if is_json {
        let documents: Vec<_> = checks.iter().map(document).collect();
        let text = format!(
            "{:#}\n",
            json!([{"name": "kubernetes", "kind": "cluster", "address": title, "checks": documents}])
        );
        print(&escape::json(&text));
    } else {
        print(&describe(&title, &checks));
    }
    Ok(if is_well { Exit::Ok } else { Exit::Other })
}

fn describe(title: &str, checks: &[Check]) -> String {
    let line = |check: &Check| {
        let what = escape::terminal(&check.what);
        match &check.outcome {
            Ok(found) => format!("  ✓ {what}: {}\n", escape::terminal(found)),
            Err(missing) => {
                let mark = if missing.is_fatal { '✗' } else { '!' };
                let (why, remedy) = (escape::terminal(&missing.why), escape::terminal(&missing.remedy));
                format!("  {mark} {what}: {why}\n      {remedy}\n")
            }
        }
    };
    let lines: String = checks.iter().map(line).collect();
    format!("cluster at {}\n{lines}", escape::terminal(title))
}

fn document(check: &Check) -> serde_json::Value {
    match &check.outcome {
        Ok(found) => json!({"what": check.what, "is_well": true, "outcome": found}),
        Err(missing) => json!({
            "what": check.what,
            "is_well": false,
            "why": missing.why,
            "remedy": missing.remedy,
            "is_fatal": missing.is_fatal,
        }),
    }
}
