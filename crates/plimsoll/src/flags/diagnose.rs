//! Flags of the diagnosis.

use clap::Args;

/// `plimsoll diagnose`
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = DIAGNOSE_EXAMPLES)]
pub(crate) struct DiagnoseFlags {
    /// Runs (@last, the beginning of an id, a path); several of one test at rising load tell what grows with it
    #[arg(value_name = "RUN", required = true)]
    pub(crate) levels: Vec<String>,
    /// Only this part of each run, in whole seconds from its start: 30s..2m, 30s.., ..2m
    #[arg(long, value_name = "FROM..TO", allow_hyphen_values = true)]
    pub(crate) window: Option<String>,
    /// Print JSON for programs
    #[arg(long)]
    pub(crate) json: bool,
    /// Tell each finding whole: numbers, queries, what was ruled out, what would prove it wrong
    #[arg(long)]
    pub(crate) all: bool,
}

const DIAGNOSE_EXAMPLES: &str = "\
What servers told during the run is what it rests on: name sources with --evidence, take traces with --otlp.
The exit code is 0 whatever is found.

Examples:
  plimsoll diagnose @last                     what limits the last run's target
  plimsoll diagnose @prev @last               what grows between two loads
  plimsoll diagnose @last --window 2m..5m     what limits it in these minutes
  plimsoll diagnose @last --all               each finding with all of its proof
  plimsoll diagnose @last --json | jq .outcome";
