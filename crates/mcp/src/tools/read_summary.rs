//! `read_summary`: the results of a stored run, condensed.

use super::{Arguments, Kind, Outcome, Tool, Work, document, optional};
use crate::condense;

pub(super) const TOOL: Tool = Tool {
    name: "read_summary",
    description: "Read what a stored run measured: validity and caveats first, then verdict, thresholds, metrics, checks, \
                  endpoints and errors.",
    is_reading: true,
    arguments: &[optional("run", Kind::Text, "Run: @last (default), @prev, or an id of list_runs")],
    call,
};

fn call(work: &Work, arguments: &Arguments) -> Result<Outcome, String> {
    let run = arguments.run("run", "@last")?;
    let report = work.document(&["report", &run, "--format", "json"])?;
    let summary = condense::summary(&report);
    document(condense::head(&summary), summary)
}
