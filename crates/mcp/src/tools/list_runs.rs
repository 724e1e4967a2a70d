//! `list_runs`: the stored runs, newest first.

use serde_json::{Value, json};

use super::{Arguments, Kind, Outcome, Tool, Work, document, optional};

pub(super) const TOOL: Tool = Tool {
    name: "list_runs",
    description: "List stored runs, newest first, with id, script, start, status and exit code. Validity is in read_summary.",
    is_reading: true,
    arguments: &[optional("limit", Kind::Number, "Maximum number of runs; 20 by default, 200 at most")],
    call,
};

/// Runs that are listed without `limit`, and with any.
const RUNS: u64 = 20;
const RUNS_MAX: u64 = 200;

fn call(work: &Work, arguments: &Arguments) -> Result<Outcome, String> {
    let limit = arguments.number("limit").unwrap_or(RUNS).min(RUNS_MAX).to_string();
    let runs = work.document(&["runs", "--json", "--limit", &limit])?;
    let mut runs = match runs {
        Value::Array(runs) => runs,
        other => return Err(format!("the program printed no list of runs: {other}")),
    };
    // Where files lie is the user's.
    runs.iter_mut().filter_map(Value::as_object_mut).for_each(|run| {
        run.remove("path");
    });
    let head = format!("{} runs; a status is no validity: read_summary has it.", runs.len());
    document(head, json!({ "runs": runs }))
}
