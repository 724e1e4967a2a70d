//! The tools that assistants see, one file each.

mod compare_runs;
mod diagnose_run;
mod list_runs;
mod log;
mod read_report;
mod read_summary;
mod run_script;
mod validate_script;

use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::condense::DOCUMENT_BYTES_MAX;
use crate::program::{Patience, Printed, Program};
use crate::protocol::Outcome;

/// A tool: its name, the description of it and of its arguments, and what does it.
pub(crate) struct Tool {
    name: &'static str,
    description: &'static str,
    /// Whether it changes nothing and sends nothing.
    is_reading: bool,
    /// Arguments: name, description, type, whether it is required.
    arguments: &'static [Argument],
    call: fn(&Work, &Arguments) -> Result<Outcome, String>,
}

/// An argument of a tool.
struct Argument {
    name: &'static str,
    description: &'static str,
    kind: Kind,
    is_required: bool,
}

/// The type of an argument.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Number,
    Variables,
}

const fn required(name: &'static str, kind: Kind, description: &'static str) -> Argument {
    Argument { name, description, kind, is_required: true }
}

const fn optional(name: &'static str, kind: Kind, description: &'static str) -> Argument {
    Argument { name, description, kind, is_required: false }
}

const TOOLS: &[Tool] = &[
    validate_script::TOOL,
    run_script::TOOL,
    list_runs::TOOL,
    read_summary::TOOL,
    diagnose_run::TOOL,
    compare_runs::TOOL,
    read_report::TOOL,
];

/// Surroundings of a call.
pub(crate) struct Work<'a> {
    pub(crate) program: &'a Program,
    /// Held by the run in progress: two at once would measure each other.
    pub(crate) running: &'a Mutex<()>,
    pub(crate) cancelled: &'a AtomicBool,
    /// Takes the time since the start of a process, while it runs.
    pub(crate) look: &'a dyn Fn(Duration),
}

impl Work<'_> {
    fn call(&self, words: &[String], patience: Patience) -> Result<Printed, String> {
        let printed = self.program.run(words, patience, self.cancelled, self.look);
        printed.map_err(|error| format!("failed to {error}"))
    }

    /// Runs a verb that prints a document.
    fn document(&self, words: &[&str]) -> Result<Value, String> {
        let text = self.text(words)?;
        serde_json::from_str(&text).map_err(|error| format!("the program printed no JSON: {error}"))
    }

    /// Runs a verb that prints a text.
    fn text(&self, words: &[&str]) -> Result<String, String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).chain(quiet()).collect();
        let printed = self.call(&words, Patience::Reading)?;
        if printed.is_late {
            return Err("the program took too long and was ended".to_owned());
        }
        if printed.code != Some(0) {
            return Err(log::complaint(&printed, self.program.has_console));
        }
        if printed.is_out_cut {
            return Err("the document is too long; read_summary has less".to_owned());
        }
        Ok(String::from_utf8_lossy(&printed.out).into_owned())
    }
}

/// Words that keep a process's output to documents and log lines that can be read.
fn quiet() -> impl Iterator<Item = String> {
    ["--quiet", "--log-format", "json", "--log-output", "stderr"].map(str::to_owned).into_iter()
}

/// A document that is short enough, with the sentences before it.
fn document(head: String, document: Value) -> Result<Outcome, String> {
    let bytes = document.to_string().len();
    if bytes > DOCUMENT_BYTES_MAX {
        return Err(format!(
            "the document has {bytes} bytes, and the limit is {DOCUMENT_BYTES_MAX}; read_summary has less"
        ));
    }
    Ok(Outcome::Document { head, document })
}

/// The arguments of a call, checked against those of the tool.
pub(crate) struct Arguments<'a>(&'a Map<String, Value>);

impl Arguments<'_> {
    fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str)
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.0.get(name).and_then(Value::as_u64)
    }

    fn variables(&self, name: &str) -> impl Iterator<Item = (&str, &str)> {
        let given = self.0.get(name).and_then(Value::as_object).into_iter().flatten();
        given.filter_map(|(name, value)| Some((name.as_str(), value.as_str()?)))
    }

    /// The name of a run, which is neither a flag nor a path.
    fn run(&self, name: &str, default: &str) -> Result<String, String> {
        let run = self.text(name).unwrap_or(default);
        let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "@:=._,".contains(letter);
        let is_name = run.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '@');
        if is_name && run.chars().all(is_letter) && !run.contains("..") {
            return Ok(run.to_owned());
        }
        Err(format!("{run:?} names no run: expected @last, @prev, an id of list_runs, or tag:NAME=VALUE"))
    }
}

/// The list of tools, as clients read it.
pub(crate) fn list() -> Value {
    let tools: Vec<Value> = TOOLS.iter().map(Tool::to_json).collect();
    Value::from(tools)
}

/// Calls a tool.
pub(crate) fn call(name: &str, arguments: &Map<String, Value>, work: &Work) -> Outcome {
    let Some(tool) = TOOLS.iter().find(|tool| tool.name == name) else {
        return Outcome::Failed(format!("there is no tool {name:?}"));
    };
    let outcome = tool.check(arguments).and_then(|()| (tool.call)(work, &Arguments(arguments)));
    outcome.unwrap_or_else(Outcome::Failed)
}

impl Tool {
    fn to_json(&self) -> Value {
        let properties: Map<String, Value> =
            self.arguments.iter().map(|argument| (argument.name.to_owned(), argument.schema())).collect();
        let required: Vec<&str> = self
            .arguments
            .iter()
            .filter(|argument| argument.is_required)
            .map(|argument| argument.name)
            .collect();
        json!({
            "name": self.name,
            "description": self.description,
            "inputSchema": {
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": false,
            },
            "annotations": {
                "readOnlyHint": self.is_reading,
                "destructiveHint": false,
                "idempotentHint": self.is_reading,
                "openWorldHint": !self.is_reading,
            },
        })
    }

    /// Refuses arguments that are unknown, missing or of another type.
    fn check(&self, arguments: &Map<String, Value>) -> Result<(), String> {
        for (name, value) in arguments {
            let Some(argument) = self.arguments.iter().find(|argument| argument.name == name) else {
                let known: Vec<&str> = self.arguments.iter().map(|argument| argument.name).collect();
                return Err(format!("{} has no argument {name:?}; it has {}", self.name, known.join(", ")));
            };
            if !argument.kind.fits(value) {
                return Err(format!("the argument {name:?} must be {}", argument.kind.expected()));
            }
        }
        let is_missing =
            |argument: &&Argument| argument.is_required && !arguments.contains_key(argument.name);
        match self.arguments.iter().find(is_missing) {
            Some(argument) => Err(format!("{} needs the argument {:?}", self.name, argument.name)),
            None => Ok(()),
        }
    }
}

impl Argument {
    fn schema(&self) -> Value {
        let mut schema = match self.kind {
            Kind::Text => json!({ "type": "string" }),
            Kind::Number => json!({ "type": "integer", "minimum": 1 }),
            Kind::Variables => json!({ "type": "object", "additionalProperties": { "type": "string" } }),
        };
        schema["description"] = Value::from(self.description);
        schema
    }
}

impl Kind {
    fn fits(self, value: &Value) -> bool {
        match self {
            Kind::Text => value.is_string(),
            Kind::Number => value.as_u64().is_some_and(|number| number > 0),
            Kind::Variables => value.as_object().is_some_and(|all| all.values().all(Value::is_string)),
        }
    }

    fn expected(self) -> &'static str {
        match self {
            Kind::Text => "a text",
            Kind::Number => "a whole number from 1 up",
            Kind::Variables => "an object of names and texts",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_checked() {
        let check = |tool: &Tool, arguments: Value, expect: Option<&str>| {
            let checked = tool.check(arguments.as_object().unwrap());
            match expect {
                None => assert_eq!(checked, Ok(()), "{arguments}"),
                Some(text) => assert!(checked.clone().unwrap_err().contains(text), "{checked:?}"),
            }
        };
        let run = &run_script::TOOL;
        check(run, json!({ "script": "a.js", "vus": 3, "env": { "A": "b" } }), None);
        check(run, json!({}), Some("needs the argument \"script\""));
        check(run, json!({ "script": 3 }), Some("must be a text"));
        check(run, json!({ "script": "a.js", "vus": 0 }), Some("from 1 up"));
        check(run, json!({ "script": "a.js", "env": { "A": 1 } }), Some("names and texts"));
        check(run, json!({ "script": "a.js", "out": "json=x" }), Some("has no argument \"out\""));
    }

    #[test]
    fn names_of_runs_are_no_flags_and_no_paths() {
        let name = |text: &str| {
            let arguments = json!({ "run": text });
            Arguments(arguments.as_object().unwrap()).run("run", "@last").is_ok()
        };
        for good in ["@last", "ab12", "tag:version=1.4", "ab,cd", "@prev"] {
            assert!(name(good), "{good}");
        }
        for bad in ["", "--output", "-o", "/etc/x.plimsoll", "a/b", "..", "a b", "~"] {
            assert!(!name(bad), "{bad}");
        }
        let none = Map::new();
        assert_eq!(Arguments(&none).run("run", "@last"), Ok("@last".to_owned()));
    }

    #[test]
    fn every_tool_is_listed_with_a_schema() {
        let list = list();
        assert_eq!(list.as_array().unwrap().len(), TOOLS.len());
        for tool in list.as_array().unwrap() {
            assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
            assert!(tool["description"].as_str().unwrap().len() > 40, "{tool}");
        }
    }
}
