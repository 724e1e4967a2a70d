//! `diagnose_run`: the bottleneck of a stored run.

use super::{Arguments, Kind, Outcome, Tool, Work, document, optional};
use crate::condense;

pub(super) const TOOL: Tool = Tool {
    name: "diagnose_run",
    description: "Find the bottleneck of a stored run: findings with their evidence, strength, remedy and prediction, what was \
                  excluded, and what is missing. Without metrics or traces of the servers there is none.",
    is_reading: true,
    arguments: &[optional("run", Kind::Text, "Run: @last (default), @prev, or an id of list_runs")],
    call,
};

fn call(work: &Work, arguments: &Arguments) -> Result<Outcome, String> {
    let run = arguments.run("run", "@last")?;
    let diagnosis = work.document(&["diagnose", &run, "--json"])?;
    document(condense::diagnosis_head(&diagnosis), diagnosis)
}
