//! `compare_runs`: two runs, or two groups of runs.

use super::{Arguments, Kind, Outcome, Tool, Work, document, optional};
use crate::condense;

pub(super) const TOOL: Tool = Tool {
    name: "compare_runs",
    description: "Compare stored runs with a baseline: each figure is improved, regressed, equivalent or inconclusive, with its \
                  interval, and whether the runs are comparable at all. Several runs per side, comma-separated, show the \
                  variation between runs.",
    is_reading: true,
    arguments: &[
        optional(
            "baseline",
            Kind::Text,
            "Run or comma-separated runs: @prev (default), an id, or tag:NAME=VALUE",
        ),
        optional(
            "candidate",
            Kind::Text,
            "Run or comma-separated runs: @last (default), an id, or tag:NAME=VALUE",
        ),
    ],
    call,
};

fn call(work: &Work, arguments: &Arguments) -> Result<Outcome, String> {
    let (baseline, candidate) = (arguments.run("baseline", "@prev")?, arguments.run("candidate", "@last")?);
    let comparison = work.document(&["compare", &baseline, &candidate, "--format", "json"])?;
    document(condense::comparison_head(&comparison), comparison)
}
