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
  plimsoll lab list                                     list the systems, their variants and faults
  plimsoll lab up appstore                              start a system on free ports
  plimsoll lab up appstore --variant matview --pin      start another variant on its own core
  plimsoll lab fault appstore missing-index on          inject a fault while it runs
  plimsoll lab status                                   show the health of running systems
  plimsoll lab down                                     stop it and delete its data";

/// Subcommands of the lab.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum LabVerb {
    /// List the systems, their variants and the faults that can be injected.
    List(LabListFlags),
    /// Start a system on real servers and wait until it is ready.
    Up(LabUpFlags),
    /// Inject a fault into a running system, or remove it.
    Fault(LabFaultFlags),
    /// Show the running systems and their health.
    Status(LabStatusFlags),
    /// Stop one system or all systems, and delete their data.
    Down(LabDownFlags),
    #[command(hide = true)]
    Supervise(LabPartFlags),
    #[command(hide = true)]
    Serve(LabPartFlags),
}

/// `plimsoll lab list`
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct LabListFlags {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `plimsoll lab up`
#[derive(Clone, Debug, Args)]
pub(crate) struct LabUpFlags {
    /// System
    #[arg(value_name = "SYSTEM")]
    pub(crate) system: String,
    /// Variant [default: the first in `plimsoll lab list`]
    #[arg(long, value_name = "NAME")]
    pub(crate) variant: Option<String>,
    /// Pin the system to the last core, and leave the other cores to the load generator
    #[arg(long)]
    pub(crate) pin: bool,
    /// Send the system's spans to this base URL (OTLP over HTTP), including spans of unsampled requests
    /// [default: http://127.0.0.1:4318, sampled requests only]
    #[arg(long, value_name = "URL")]
    pub(crate) otlp: Option<String>,
    /// Interval of the system's periodic job, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) refresh: u64,
    /// Install missing servers
    #[arg(long)]
    pub(crate) install: bool,
}

/// `plimsoll lab fault`
#[derive(Clone, Debug, Args)]
pub(crate) struct LabFaultFlags {
    /// System
    #[arg(value_name = "SYSTEM")]
    pub(crate) system: String,
    /// Fault
    #[arg(value_name = "FAULT")]
    pub(crate) fault: String,
    /// Turn the fault on or off
    #[arg(value_name = "on|off", value_parser = ["on", "off"], hide_possible_values = true)]
    pub(crate) state: String,
}

/// `plimsoll lab status`
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct LabStatusFlags {
    /// Only this system
    #[arg(value_name = "SYSTEM")]
    pub(crate) system: Option<String>,
    /// Print JSON
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

/// Arguments of the hidden subcommands that the program starts itself with.
#[derive(Clone, Debug, Args)]
pub(crate) struct LabPartFlags {
    #[arg(value_name = "SYSTEM")]
    pub(crate) system: String,
    #[arg(value_name = "FOLDER")]
    pub(crate) directory: PathBuf,
    #[arg(value_name = "PART")]
    pub(crate) part: Option<String>,
}
