//! Flags of `plimsoll lab`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `plimsoll lab`
#[derive(Clone, Debug, Args)]
#[command(after_help = LAB_EXAMPLES)]
pub(crate) struct LabFlags {
    #[command(subcommand)]
    pub(crate) verb: LabVerb,
}

const LAB_EXAMPLES: &str = "\
Examples:
  plimsoll lab list                                     the systems, their variants and their faults
  plimsoll lab up appstore                              start one, on free ports of this machine
  plimsoll lab up appstore --variant matview --pin      another variant, on a core of its own
  plimsoll lab fault appstore missing-index on          break it while it runs
  plimsoll lab status                                   what is up, and what of it has ended
  plimsoll lab down                                     end it, and leave nothing behind";

/// What to do with the lab.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum LabVerb {
    /// List the systems, their variants and the faults that can be planted in them.
    List(LabListFlags),
    /// Start a system on real servers and wait until all of it answers.
    Up(LabUpFlags),
    /// Plant a fault in a system that is up, or remove it.
    Fault(LabFaultFlags),
    /// Show what is up and whether all of it works.
    Status(LabStatusFlags),
    /// End a system, or all of them, and remove what it stored.
    Down(LabDownFlags),
    #[command(hide = true)]
    Supervise(LabPartFlags),
    #[command(hide = true)]
    Serve(LabPartFlags),
}

/// `plimsoll lab list`
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct LabListFlags {
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `plimsoll lab up`
#[derive(Clone, Debug, Args)]
pub(crate) struct LabUpFlags {
    /// The system
    #[arg(value_name = "SYSTEM")]
    pub(crate) system: String,
    /// The variant [default: the first that `plimsoll lab list` shows]
    #[arg(long, value_name = "NAME")]
    pub(crate) variant: Option<String>,
    /// Bind all of it to the last core of this machine, so that the others are the generator's
    #[arg(long)]
    pub(crate) pin: bool,
    /// Send its spans to this base URL (OTLP over HTTP), also those of requests that do not ask for them
    /// [default: http://127.0.0.1:4318, only what requests ask for]
    #[arg(long, value_name = "URL")]
    pub(crate) otlp: Option<String>,
    /// Seconds between two runs of what it does periodically
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) refresh: u64,
    /// Install the servers that are missing
    #[arg(long)]
    pub(crate) install: bool,
}

/// `plimsoll lab fault`
#[derive(Clone, Debug, Args)]
pub(crate) struct LabFaultFlags {
    /// The system
    #[arg(value_name = "SYSTEM")]
    pub(crate) system: String,
    /// The fault
    #[arg(value_name = "FAULT")]
    pub(crate) fault: String,
    /// Whether it acts from now on
    #[arg(value_name = "on|off", value_parser = ["on", "off"], hide_possible_values = true)]
    pub(crate) state: String,
}

/// `plimsoll lab status`
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct LabStatusFlags {
    /// Only this system
    #[arg(value_name = "SYSTEM")]
    pub(crate) system: Option<String>,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `plimsoll lab down`
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct LabDownFlags {
    /// Only this system
    #[arg(value_name = "SYSTEM")]
    pub(crate) system: Option<String>,
}

/// What the program calls itself with.
#[derive(Clone, Debug, Args)]
pub(crate) struct LabPartFlags {
    #[arg(value_name = "SYSTEM")]
    pub(crate) system: String,
    #[arg(value_name = "FOLDER")]
    pub(crate) directory: PathBuf,
    #[arg(value_name = "PART")]
    pub(crate) part: Option<String>,
}
