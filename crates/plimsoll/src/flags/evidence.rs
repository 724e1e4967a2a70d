//! Flags that name metrics sources, and flags of the subcommands that use them.

use std::path::PathBuf;

use clap::Args;
use session::project::EvidenceAsked;

/// Metrics sources of a run.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Evidence")]
pub(crate) struct EvidenceFlags {
    /// Metrics source to collect from during the test: prometheus=http://localhost:9090, or NAME:KIND=ADDRESS; repeatable; overrides plimsoll.toml
    #[arg(long, value_name = "KIND=ADDRESS")]
    pub(crate) evidence: Vec<String>,
    /// Project file that lists the sources [default: plimsoll.toml in this folder or a parent]
    #[arg(long, value_name = "FILE")]
    pub(crate) project: Option<PathBuf>,
}

impl EvidenceFlags {
    /// Returns the sources that the flags name.
    pub(crate) fn asked(&self) -> EvidenceAsked {
        EvidenceAsked { sources: self.evidence.clone(), project: self.project.clone() }
    }
}

/// `plimsoll doctor`
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = DOCTOR_EXAMPLES)]
pub(crate) struct DoctorFlags {
    #[command(flatten)]
    pub(crate) evidence: EvidenceFlags,
    #[command(flatten)]
    pub(crate) cluster: agents::ClusterDoctorFlags,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// List the kinds of sources with their address formats
    #[arg(long)]
    pub(crate) kinds: bool,
}

const DOCTOR_EXAMPLES: &str = "\
Examples:
  plimsoll doctor                                              check the sources in plimsoll.toml
  plimsoll doctor --evidence redis=redis://localhost:6379      check a source that is not in plimsoll.toml
  plimsoll doctor --kinds                                      list the kinds of sources
  plimsoll doctor --kubernetes --agents 20 --image plimsoll:0.1.0   check a cluster for a run

The exit code is 255 if a source or the cluster cannot be used.";

/// `plimsoll collect`
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = COLLECT_EXAMPLES)]
pub(crate) struct CollectFlags {
    /// Run: an id or id prefix, a name, @last, @prev or a file
    #[arg(value_name = "RUN", required_unless_present = "from", conflicts_with = "from")]
    pub(crate) run: Option<String>,
    /// Start of a time range to collect without a load test, as a new run: 2026-11-21T19:05:00Z or -15m
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) from: Option<String>,
    /// End of the time range [default: now]
    #[arg(long, value_name = "TIME", requires = "from", allow_hyphen_values = true)]
    pub(crate) to: Option<String>,
    /// Name of the new run
    #[arg(long, value_name = "NAME", requires = "from")]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) evidence: EvidenceFlags,
}

const COLLECT_EXAMPLES: &str = "\
Collects metrics of the run's time range from sources that keep history, and stores them with the run. With --from it
collects any time range of up to a day as a new run without requests. Sources that expose only current values, such as a
database or a broker, cannot be backfilled.

Examples:
  plimsoll collect @last                                       collect from the sources in plimsoll.toml
  plimsoll collect @last --evidence prometheus=http://localhost:9090
  plimsoll collect --from -15m                                 the last 15 minutes, as a new run
  plimsoll collect --from 2026-01-27T17:05:00+09:00 --to 2026-01-27T17:15:00+09:00 --name before";
