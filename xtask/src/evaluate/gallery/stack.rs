//! The description of a stack: its processes, the evidence that it offers, and its cases.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Context;
use serde::Deserialize;

use crate::workspace;

/// The description of each stack.
const FILE: &str = "stack.toml";

/// A system made of other projects' programs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::evaluate) struct Stack {
    /// Its folder's name.
    #[serde(skip)]
    pub(in crate::evaluate) name: String,
    /// Its programs, in a line.
    pub(in crate::evaluate) about: String,
    /// The environment of all its processes; `$PORT_…`, `$OTLP`, `$CACHE` and `$WORK` are replaced.
    #[serde(default)]
    pub(in crate::evaluate) env: BTreeMap<String, String>,
    /// Its processes in the order in which they start.
    pub(in crate::evaluate) process: Vec<Process>,
    /// The sections of `plimsoll.toml`: the settings of each evidence source, by name.
    #[serde(default)]
    pub(in crate::evaluate) evidence: BTreeMap<String, BTreeMap<String, String>>,
    /// The load of a case that sets no other.
    pub(in crate::evaluate) load: Load,
    /// Its faults and controls.
    pub(in crate::evaluate) case: Vec<Case>,
}

/// A process of a stack.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::evaluate) struct Process {
    /// The name of the port that it listens on, which is `$PORT_NAME`. It is ready when it accepts connections.
    pub(in crate::evaluate) port: String,
    /// Names of further ports that it listens on.
    #[serde(default)]
    pub(in crate::evaluate) more_ports: Vec<String>,
    /// The command, which bash runs in the stack's folder.
    pub(in crate::evaluate) run: String,
}

/// The load of a case. The settings of a case replace those of its stack, one by one.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::evaluate) struct Load {
    /// The name of the port that receives the requests.
    port: Option<String>,
    /// Method and path.
    route: Option<String>,
    users: Option<u32>,
    /// The mean pause of a user between two requests.
    pause_ms: Option<u32>,
    seconds: Option<u32>,
    /// The share of requests that the run traces.
    sample: Option<String>,
}

/// A fault with the configuration that makes it, or a control.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::evaluate) struct Case {
    pub(in crate::evaluate) name: String,
    #[serde(default)]
    env: BTreeMap<String, String>,
    prepare: Option<String>,
    beside: Option<String>,
    #[serde(default)]
    pub(in crate::evaluate) load: Load,
    pub(in crate::evaluate) truth: Truth,
    /// Whether refused requests are a symptom of the fault. In all other cases requests must succeed.
    #[serde(default)]
    pub(in crate::evaluate) may_fail: bool,
    /// The setting in which the fault is removed; settings that it does not name stay.
    pub(in crate::evaluate) remedy: Option<Setting>,
    /// Whether the remedy is another change than the one whose effect the diagnosis predicts, such as less work instead of another
    /// processor. Then the two are not compared.
    #[serde(default)]
    pub(in crate::evaluate) is_other_remedy: bool,
}

/// A configuration of a stack.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::evaluate) struct Setting {
    /// Environment that differs from the stack's.
    #[serde(default)]
    pub(in crate::evaluate) env: BTreeMap<String, String>,
    /// A command that runs before the load, in the stack's folder.
    pub(in crate::evaluate) prepare: Option<String>,
    /// A command that runs during the load, and is ended with it.
    pub(in crate::evaluate) beside: Option<String>,
}

/// The correct diagnosis.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::evaluate) struct Truth {
    /// The outcomes that are correct.
    #[serde(default = "limited")]
    pub(in crate::evaluate) outcomes: Vec<String>,
    /// The labels of which one is correct as the first finding; none for a control.
    #[serde(default)]
    pub(in crate::evaluate) labels: Vec<String>,
    /// Of these names, one is in the place of the correct finding; none if any place is correct.
    #[serde(default)]
    pub(in crate::evaluate) places: Vec<String>,
}

fn limited() -> Vec<String> {
    vec!["limited".to_owned()]
}

impl Load {
    /// These settings, and those of `other` where there are none.
    fn or(&self, other: &Load) -> Load {
        Load {
            port: self.port.clone().or_else(|| other.port.clone()),
            route: self.route.clone().or_else(|| other.route.clone()),
            users: self.users.or(other.users),
            pause_ms: self.pause_ms.or(other.pause_ms),
            seconds: self.seconds.or(other.seconds),
            sample: self.sample.clone().or_else(|| other.sample.clone()),
        }
    }

    /// The name of the port that receives the requests.
    pub(in crate::evaluate) fn port(&self) -> &str {
        self.port.as_deref().unwrap_or("APP")
    }

    /// The share of requests that the run traces.
    pub(in crate::evaluate) fn sample(&self) -> &str {
        self.sample.as_deref().unwrap_or("20%")
    }

    pub(in crate::evaluate) fn users(&self) -> u32 {
        self.users.unwrap_or(10)
    }

    /// The variables of the script.
    pub(in crate::evaluate) fn variables(&self) -> Vec<(&'static str, String)> {
        vec![
            ("ROUTE", self.route.clone().unwrap_or_else(|| "GET /".to_owned())),
            ("VUS", self.users().to_string()),
            ("PAUSE_MS", self.pause_ms.unwrap_or(0).to_string()),
            ("DURATION", format!("{}s", self.seconds.unwrap_or(20))),
        ]
    }
}

impl Case {
    /// The configuration in which the fault is planted.
    pub(in crate::evaluate) fn setting(&self) -> Setting {
        Setting { env: self.env.clone(), prepare: self.prepare.clone(), beside: self.beside.clone() }
    }
}

impl Setting {
    /// This setting after a change: names that the change has replace those that there are.
    pub(in crate::evaluate) fn changed(&self, change: &Setting) -> Setting {
        let mut env = self.env.clone();
        env.extend(change.env.clone());
        Setting {
            env,
            prepare: change.prepare.clone().or_else(|| self.prepare.clone()),
            beside: change.beside.clone().or_else(|| self.beside.clone()),
        }
    }
}

impl Stack {
    /// The load of a case.
    pub(in crate::evaluate) fn load(&self, case: &Case) -> Load {
        case.load.or(&self.load)
    }

    /// The stack's folder.
    pub(in crate::evaluate) fn folder(&self) -> PathBuf {
        folder().join(&self.name)
    }
}

/// The folder of all stacks.
pub(in crate::evaluate) fn folder() -> PathBuf {
    workspace::root().join("gallery")
}

/// Reads all stacks, in order of their names.
pub(in crate::evaluate) fn all() -> anyhow::Result<Vec<Stack>> {
    let mut stacks = Vec::new();
    for entry in std::fs::read_dir(folder()).context("list the stacks")? {
        let path = entry.context("list the stacks")?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        let file = path.join(FILE);
        if !file.exists() {
            continue;
        }
        let text = std::fs::read_to_string(&file).with_context(|| format!("read {}", file.display()))?;
        let stack: Stack = toml::from_str(&text).with_context(|| format!("parse {}", file.display()))?;
        stacks.push(Stack { name: name.to_owned(), ..stack });
    }
    stacks.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(stacks)
}

/// Finds the stack and the case of a part, `STACK-CASE`.
pub(in crate::evaluate) fn find(part: &str) -> anyhow::Result<(Stack, Case)> {
    for stack in all()? {
        let rest = part.strip_prefix(&stack.name).and_then(|rest| rest.strip_prefix('-'));
        let case = rest.and_then(|name| stack.case.iter().find(|case| case.name == name)).cloned();
        if let Some(case) = case {
            return Ok((stack, case));
        }
    }
    anyhow::bail!("find the case {part:?} in gallery/*/{FILE}")
}

#[cfg(test)]
mod tests {
    use model::diagnosis::FaultKind;

    use super::*;

    #[test]
    fn truths_are_labels_and_outcomes_of_a_diagnosis() {
        let outcomes = ["limited", "no_server_bottleneck", "generator", "cannot_tell"];
        for stack in all().expect("stacks") {
            for case in &stack.case {
                let name = format!("{}-{}", stack.name, case.name);
                assert!(case.truth.outcomes.iter().all(|one| outcomes.contains(&one.as_str())), "{name}");
                let is_label = |label: &String| FaultKind::ALL.iter().any(|kind| kind.as_str() == label);
                assert!(case.truth.labels.iter().all(is_label), "{name}: {:?}", case.truth.labels);
                assert_eq!(
                    case.truth.labels.is_empty(),
                    !case.truth.outcomes.contains(&limited()[0]),
                    "{name}"
                );
                assert_eq!(find(&name).expect("a case").1.name, case.name);
            }
        }
    }

    #[test]
    fn processes_and_loads_agree_on_ports() {
        for stack in all().expect("stacks") {
            let ports: Vec<&String> =
                stack.process.iter().flat_map(|one| [&one.port].into_iter().chain(&one.more_ports)).collect();
            for case in &stack.case {
                let load = stack.load(case);
                assert!(ports.iter().any(|port| *port == load.port()), "{}: {}", stack.name, case.name);
            }
        }
    }

    #[test]
    fn a_change_replaces_what_it_names() {
        let setting = |text: &str| toml::from_str::<Setting>(text).expect("a setting");
        let before = setting("prepare = 'a'\nbeside = 'b'\nenv = { X = '1', Y = '2' }");
        let after = before.changed(&setting("prepare = ''\nenv = { X = '3' }"));
        assert_eq!((after.prepare.as_deref(), after.beside.as_deref()), (Some(""), Some("b")));
        assert_eq!((after.env["X"].as_str(), after.env["Y"].as_str()), ("3", "2"));
    }

    #[test]
    fn a_load_takes_from_its_stack_what_it_does_not_set() {
        let load = |text: &str| toml::from_str::<Load>(text).expect("a load");
        let both = load("users = 3").or(&load("users = 9\nroute = 'GET /x'\nseconds = 5"));
        let variables: Vec<String> = both.variables().into_iter().map(|(_, value)| value).collect();
        assert_eq!(variables, ["GET /x", "3", "0", "5s"]);
    }
}
