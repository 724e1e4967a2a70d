//! The commits that a measurement belongs to, so that a result shows whether its detectors were older than its stack.

use std::process::Command;

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use crate::workspace;

/// The detectors, whose changes end the state in which a stack is new to them.
const DETECTORS: &str = "crates/analysis/src";

/// Returns the commit of the detectors, that of the stack's first version, and whether the detectors had not changed since before it.
pub(in crate::evaluate) fn of_stack(stack: &str) -> anyhow::Result<Value> {
    let description = format!("gallery/{stack}/stack.toml");
    let detectors = git(&["log", "-1", "--format=%H", "--", DETECTORS])?;
    let added = git(&["log", "--diff-filter=A", "--format=%H", "--", &description])?;
    let first = added.lines().last().unwrap_or_default().to_owned();
    let is_changed = !git(&["status", "--porcelain", "--", DETECTORS])?.is_empty();
    let is_older = first.is_empty() || is_ancestor(&detectors, &first)?;
    Ok(json!({
        "detectors": detectors,
        "stack": if first.is_empty() { Value::Null } else { json!(first) },
        "detectors_older_than_stack": is_older && !is_changed,
    }))
}

fn git(arguments: &[&str]) -> anyhow::Result<String> {
    let mut command = Command::new("git");
    let output = command.args(arguments).current_dir(workspace::root()).output().context("run git")?;
    ensure!(output.status.success(), "git {}: {}", arguments[0], String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn is_ancestor(older: &str, newer: &str) -> anyhow::Result<bool> {
    let mut command = Command::new("git");
    command.args(["merge-base", "--is-ancestor", older, newer]).current_dir(workspace::root());
    Ok(command.status().context("run git")?.success())
}
