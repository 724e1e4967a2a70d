//! Flags that name sources of evidence, and those of the verbs that ask them.

use std::path::PathBuf;

use clap::Args;

/// Where evidence comes from.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Evidence")]
pub(crate) struct EvidenceFlags {
    /// A source to ask beside the load: prometheus=http://localhost:9090, or NAME:KIND=ADDRESS; repeatable, over plimsoll.toml
    #[arg(long, value_name = "KIND=ADDRESS")]
    pub(crate) evidence: Vec<String>,
    /// The file that names sources [default: plimsoll.toml, here or in a folder above]
    #[arg(long, value_name = "FILE")]
    pub(crate) project: Option<PathBuf>,
}

/// `plimsoll doctor`
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = DOCTOR_EXAMPLES)]
pub(crate) struct DoctorFlags {
    #[command(flatten)]
    pub(crate) evidence: EvidenceFlags,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// List the kinds of sources and how each is written
    #[arg(long)]
    pub(crate) kinds: bool,
}

const DOCTOR_EXAMPLES: &str = "\
Examples:
  plimsoll doctor                                              the sources that plimsoll.toml names
  plimsoll doctor --evidence redis=redis://localhost:6379      one that is not written down yet
  plimsoll doctor --kinds                                      what can be a source, and how it is written

The exit code is 255 if a source cannot be used at all.";

/// `plimsoll collect`
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = COLLECT_EXAMPLES)]
pub(crate) struct CollectFlags {
    /// The run: an id or the start of one, a name, @last, @prev or a file
    #[arg(value_name = "RUN", required_unless_present = "from", conflicts_with = "from")]
    pub(crate) run: Option<String>,
    /// Make a run of what servers tell about the time from then on, without a load: 2026-11-21T19:05:00Z, or -15m
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) from: Option<String>,
    /// Until then [default: now]
    #[arg(long, value_name = "TIME", requires = "from", allow_hyphen_values = true)]
    pub(crate) to: Option<String>,
    /// The name of the run that is made
    #[arg(long, value_name = "NAME", requires = "from")]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) evidence: EvidenceFlags,
}

const COLLECT_EXAMPLES: &str = "\
Asks what servers still know about the time of a run that is over, and keeps it with the run; or about any other time
of at most a day, and makes a run of it that has no requests. Sources that only know the present (a database, a broker)
have nothing to tell then.

Examples:
  plimsoll collect @last                                       the sources that plimsoll.toml names
  plimsoll collect @last --evidence prometheus=http://localhost:9090
  plimsoll collect --from -15m                                 the last quarter of an hour, as a run of its own
  plimsoll collect --from 2026-01-27T17:05:00+09:00 --to 2026-01-27T17:15:00+09:00 --name before";
