//! Flags of the diagnosis.

use clap::{Args, ValueEnum};

/// `plimsoll diagnose`
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = DIAGNOSE_EXAMPLES)]
pub(crate) struct DiagnoseFlags {
    /// Runs (@last, an id prefix, a path); several runs at rising load show how demand grows with load
    #[arg(value_name = "RUN", default_value = "@last")]
    pub(crate) levels: Vec<String>,
    /// Time window of each run, in whole seconds from its start: 30s..2m, 30s.., ..2m
    #[arg(long, value_name = "FROM..TO", allow_hyphen_values = true)]
    pub(crate) window: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Show each finding in full: numbers, queries, excluded causes, and how to disprove it
    #[arg(long)]
    pub(crate) all: bool,
    /// Leave evidence out, to see whether the result rests on it; repeatable
    #[arg(long, value_name = "KIND")]
    pub(crate) without: Vec<Left>,
}

/// Evidence that a diagnosis leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Left {
    /// Spans of the target
    Traces,
    /// Metrics, records and logs of all sources
    Metrics,
}

const DIAGNOSE_EXAMPLES: &str = "\
The diagnosis needs server-side evidence from the run: add metrics with --evidence and traces with --otlp.
The exit code is 0, whatever the result.

Examples:
  plimsoll diagnose                           find the bottleneck of the last run
  plimsoll diagnose @prev @last               compare two loads
  plimsoll diagnose @last --window 2m..5m     analyse these three minutes only
  plimsoll diagnose @last --all               show all the evidence of each finding
  plimsoll diagnose @last --without traces    find out whether metrics alone show the same
  plimsoll diagnose @last --json | jq .outcome";
