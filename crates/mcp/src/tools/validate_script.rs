//! `validate_script`: loads a script without running it.

use serde_json::{Value, json};

use super::{Arguments, Kind, Outcome, Tool, Work, document, log, quiet, required};
use crate::program::Patience;

pub(super) const TOOL: Tool = Tool {
    name: "validate_script",
    description: "Load a k6 script without sending load: whether it loads, its options, the VUs and the time that it needs, and \
                  whether it keeps within the user's limits. Nothing is sent.",
    is_reading: true,
    arguments: &[required("script", Kind::Text, "Path of the script in the folder that the user opened")],
    call,
};

fn call(work: &Work, arguments: &Arguments) -> Result<Outcome, String> {
    let script = work.program.script(arguments.text("script").unwrap_or_default())?;
    let verb = ["inspect", "--execution-requirements", "--include-system-env-vars"].map(str::to_owned);
    let words: Vec<String> =
        verb.into_iter().chain(work.program.limits.clone()).chain([script]).chain(quiet()).collect();
    let printed = work.call(&words, Patience::Reading)?;
    let is_loaded = printed.code == Some(0);
    let options: Value = serde_json::from_slice(&printed.out).unwrap_or(Value::Null);
    let lines = log::lines(&printed, work.program.has_console);
    let head = match is_loaded {
        true => "The script loads and keeps within the limits.".to_owned(),
        false => format!("The script cannot be run: {}", log::complaint(&printed, work.program.has_console)),
    };
    document(
        head,
        json!({
            "isRunnable": is_loaded,
            "limits": work.program.limits.join(" "),
            "options": options,
            "log": lines,
        }),
    )
}
