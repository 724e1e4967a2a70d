//! Command-line flags as typed. Flags that exist in k6 keep k6's name and short form; [`crate::settings`] resolves them.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use plan::{CliOptions, ConstantLoad};

mod audit;
mod calibrate;
mod compare;
mod diagnose;
mod evidence;
mod host_agent;
mod import;
#[cfg(feature = "lab")]
mod lab;
mod limits;
mod new;
mod otlp;
mod project;
mod series;
mod serve;
mod stored;
mod study;

pub(crate) use self::import::ImportFlags;
#[cfg(feature = "lab")]
pub(crate) use self::lab::{LabFaultFlags, LabFlags, LabUpFlags, LabVerb};
pub(crate) use self::otlp::OtlpFlags;
pub(crate) use agents::{AgentFlags, AgentsFlags, KubernetesFlags};
pub(crate) use audit::{AuditFlags, AuditFormat, FailOnFlag};
pub(crate) use calibrate::{CalibrateFlags, SplitTestFlags};
pub(crate) use compare::{CompareFlags, CompareFormat, HistoryFlags, HistoryFormat, JudgeFlags};
pub(crate) use diagnose::{DiagnoseFlags, Left};
pub(crate) use evidence::{CollectFlags, DoctorFlags, EvidenceFlags};
pub(crate) use host_agent::HostAgentFlags;
pub(crate) use limits::{LimitFlags, McpFlags};
pub(crate) use new::NewFlags;
pub(crate) use project::{HelpFlags, ManFlags, TypesFlags};
pub(crate) use series::SeriesFlags;
pub(crate) use serve::ServeFlags;
pub(crate) use stored::{
    ExportFlags, ExportFormat, LangFlag, MergeFlags, NoteFlags, PruneFlags, RecordFlags, ReportFlags,
    ReportFormat, RunsFlags, RunsListFlags, RunsVerb, ShowFlags, StatusFlag,
};
pub(crate) use study::{CapacityFlags, FindFlags, LevelFlags, StudyFlags, SweepFlags};

/// Run k6 load tests, find the bottleneck, and know how much load is safe.
#[derive(Debug, Parser)]
#[command(
    name = "plimsoll",
    version,
    propagate_version = false,
    subcommand_required = true,
    disable_help_subcommand = true,
    arg_required_else_help = true,
    args_override_self = true,
    after_help = "Examples:\n  plimsoll demo                            run a test against a built-in shop\n  \
                  plimsoll run script.js                   run a script\n  \
                  plimsoll find script.js                  find the safe load and the bottleneck\n  \
                  plimsoll run -u 10 -d 30s script.js      10 VUs for 30 seconds\n  \
                  plimsoll inspect script.js               show a script's options\n  \
                  plimsoll runs                            list the runs so far\n  \
                  plimsoll show @last                      show the summary of the last run\n  \
                  plimsoll report @last --format md        write a report for a pull request\n  \
                  plimsoll serve                           show all runs in the browser\n  \
                  plimsoll compare @prev @last             compare the last two runs\n  \
                  plimsoll diagnose @last                  find the bottleneck, with evidence"
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) verb: Verb,
    #[command(flatten)]
    pub(crate) global: GlobalFlags,
}

/// Subcommands, one file each.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Run a test.
    Run(Box<RunFlags>),
    /// Run an example against a built-in shop, and compare the results with the shop's known capacity.
    Demo(DemoFlags),
    /// List stored runs, or delete old ones.
    Runs(RunsFlags),
    /// Print the summary of a stored run, or of a time window in it.
    Show(ShowFlags),
    /// Write a report on a run as HTML, Markdown, JSON or JUnit.
    Report(ReportFlags),
    /// Serve a web page with all runs.
    Serve(ServeFlags),
    /// Find the safe load and the bottleneck in one command.
    Find(Box<FindFlags>),
    /// Find the maximum load that meets your SLOs, and the limiting resource.
    Capacity(Box<CapacityFlags>),
    /// Run a script at several load steps and classify each.
    Sweep(Box<SweepFlags>),
    /// Compare runs with earlier ones: improved, regressed, equivalent or inconclusive.
    Compare(CompareFlags),
    /// List the runs of a script with their key figures, and find where they changed.
    History(HistoryFlags),
    /// Export a run's metrics as CSV, JSON or Parquet, or copy its file.
    Export(ExportFlags),
    /// Import results of k6, JMeter, Gatling, Locust and other tools as runs.
    Import(ImportFlags),
    /// Merge the execution segments of a test into one run.
    Merge(MergeFlags),
    /// Check runs and result tables for arithmetic and measurement errors.
    Audit(AuditFlags),
    /// Find the bottleneck, with evidence and a testable prediction.
    Diagnose(DiagnoseFlags),
    /// Check that each metrics source is reachable and has the permissions it needs.
    Doctor(DoctorFlags),
    /// Backfill server metrics for a finished run or any time range.
    Collect(CollectFlags),
    /// Serve this host's CPU, memory and network metrics to remote runs.
    HostAgent(HostAgentFlags),
    /// Run a part of a test for a hub on another machine.
    Agent(AgentFlags),
    /// Print the Kubernetes objects of agents, and the permissions that a run needs.
    Kubernetes(KubernetesFlags),
    /// Add a note to a run.
    Note(NoteFlags),
    /// Check whether the load generator is the bottleneck by splitting the load over two processes.
    SplitTest(SplitTestFlags),
    /// Measure the maximum request rate of this machine, against a server on loopback.
    Calibrate(CalibrateFlags),
    /// Check a script without running it, and print its options as JSON.
    Inspect(Box<InspectFlags>),
    /// Pack a script and its dependencies into one file that runs offline.
    Archive(Box<ArchiveFlags>),
    /// List the modules that a script imports.
    Deps(Box<DepsFlags>),
    /// Create a script from a template, or from a recording or a description of requests.
    New(NewFlags),
    /// Write TypeScript declarations and settings, so that editors complete scripts.
    Types(TypesFlags),
    /// Let an assistant check scripts, run them within your limits, and read results (Model Context Protocol).
    Mcp(McpFlags),
    /// Start systems under test on real servers, inject faults, and stop them.
    #[cfg(feature = "lab")]
    Lab(LabFlags),
    /// Show the status of a running test.
    #[command(after_help = STATUS_EXAMPLES)]
    Status,
    /// Show the current metrics of a running test.
    #[command(after_help = STATS_EXAMPLES)]
    Stats,
    /// Pause a running externally-controlled test.
    #[command(after_help = PAUSE_EXAMPLES)]
    Pause,
    /// Start a test that waits because of --paused, or resume a paused one.
    #[command(after_help = RESUME_EXAMPLES)]
    Resume,
    /// Change the number of VUs of a running externally-controlled test.
    Scale(ScaleFlags),
    /// Print the version.
    Version(VersionFlags),
    /// Print a shell completion script.
    #[command(alias = "completion")]
    Completions(CompletionsFlags),
    /// Write man pages.
    #[command(hide = true)]
    Man(ManFlags),
    /// Show help on a subcommand or a topic, or list both.
    Help(HelpFlags),
}

/// Flags accepted by every subcommand.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Global flags")]
pub(crate) struct GlobalFlags {
    /// JSON file with options [default: plimsoll/config.json, else k6/config.json, in the user's config folder]
    #[arg(short, long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Format of log lines: text, json or raw
    #[arg(long, global = true, value_name = "FORMAT")]
    pub(crate) log_format: Option<String>,
    /// Destination of log lines: stderr, stdout, none, file=PATH or loki=URL
    #[arg(long, global = true, value_name = "WHERE")]
    pub(crate) log_output: Option<String>,
    /// Disable colours
    #[arg(long, alias = "no-colour", global = true, default_missing_value = "true", num_args = 0..=1, require_equals = true, value_name = "BOOL", hide_possible_values = true)]
    pub(crate) no_color: Option<bool>,
    /// Hide the banner and the progress
    #[arg(short, long, global = true, default_missing_value = "true", num_args = 0..=1, require_equals = true, value_name = "BOOL", hide_possible_values = true)]
    pub(crate) quiet: Option<bool>,
    /// Enable debug logging
    #[arg(short, long, global = true, default_missing_value = "true", num_args = 0..=1, require_equals = true, value_name = "BOOL", hide_possible_values = true)]
    pub(crate) verbose: Option<bool>,
    /// Store of runs: a directory or s3://bucket/prefix [default: plimsoll/runs in the user's data folder]
    #[arg(long, global = true, value_name = "PLACE")]
    pub(crate) runs: Option<String>,
    /// Address of the test's REST API: host:port, or :port with PLIMSOLL_API_TOKEN [default: localhost:6565, served when needed]
    #[arg(short, long, global = true, value_name = "ADDRESS")]
    pub(crate) address: Option<String>,
    #[arg(long, global = true, hide = true, default_missing_value = "true", num_args = 0..=1, require_equals = true)]
    pub(crate) profiling_enabled: Option<bool>,
    /// Source of secrets for k6/secrets: file=PATH, mock=KEY=VALUE,… or url=urlTemplate=URL,…; repeatable
    #[arg(long, global = true, value_name = "SOURCE")]
    pub(crate) secret_source: Vec<String>,
}

impl GlobalFlags {
    /// The flags that a process of this program needs to find the same config, runs and secrets.
    pub(crate) fn words(&self) -> Vec<String> {
        let config = self.config.as_ref().map(|path| format!("--config={}", path.display()));
        let runs = self.runs.as_ref().map(|place| format!("--runs={place}"));
        let secrets = self.secret_source.iter().map(|source| format!("--secret-source={source}"));
        config.into_iter().chain(runs).chain(secrets).collect()
    }
}

/// The script and its environment.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Script")]
pub(crate) struct ScriptFlags {
    /// Path or https:// URL of a script or archive; - reads standard input
    #[arg(value_name = "SCRIPT")]
    pub(crate) script: PathBuf,
    /// Set a variable in the script's __ENV; repeatable
    #[arg(short, long = "env", value_name = "NAME=VALUE")]
    pub(crate) env: Vec<String>,
    /// Pass the process's environment variables to the script [default: true for run, false for inspect]
    #[arg(long, default_missing_value = "true", num_args = 0..=1, require_equals = true, value_name = "BOOL", hide_possible_values = true)]
    pub(crate) include_system_env_vars: Option<bool>,
    /// How metrics are computed: honest (default) or strict (identical to k6)
    #[arg(long, value_name = "MODE")]
    pub(crate) compat: Option<CompatFlag>,
    /// Download remote modules again and write their hashes to plimsoll.lock beside the script
    #[arg(long)]
    pub(crate) lock: bool,
    /// Load only remote modules that are in plimsoll.lock
    #[arg(long, conflicts_with = "lock")]
    pub(crate) frozen: bool,
    /// Cache folder for remote modules [default: plimsoll in the user's cache folder]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) cache: Option<PathBuf>,
    /// Memory limit of one VU, such as 512MiB [default: 512MiB, less on small machines]
    #[arg(long, value_name = "SIZE", value_parser = parse_memory)]
    pub(crate) vu_memory: Option<u64>,
    /// Memory limit of all VUs together [default: half of the machine's or cgroup's memory]
    #[arg(long, value_name = "SIZE", value_parser = parse_memory)]
    pub(crate) memory: Option<u64>,
    /// Let local modules of the script run programs on this machine (k6/x/exec)
    #[arg(long)]
    pub(crate) allow_exec: bool,
    #[arg(long, hide = true)]
    pub(crate) compatibility_mode: Option<String>,
    /// Type of the file: js or archive [default: detected]
    #[arg(short = 't', long = "type", value_name = "TYPE")]
    pub(crate) kind: Option<String>,
    /// The text of a built-in script, which is in no file.
    #[arg(skip)]
    pub(crate) built_in: Option<&'static str>,
}

/// The smallest memory limit: the host's own objects take a part of it in each VU.
const MEMORY_BYTES_MIN: u64 = 8 << 20;

/// Parses a memory limit.
///
/// # Errors
/// It is no size, or too small for any script.
pub(crate) fn parse_memory(text: &str) -> Result<u64, String> {
    match catalogue::prune::parse_size(text) {
        None => {
            Err(format!("`{text}` is not a size: expected a number and a unit, for example 512MiB or 2GiB"))
        }
        Some(bytes) if bytes < MEMORY_BYTES_MIN => {
            Err(format!("`{text}` is too small: a VU needs at least {} MiB", MEMORY_BYTES_MIN >> 20))
        }
        Some(bytes) => Ok(bytes),
    }
}

/// Values of `--compat`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompatFlag {
    Honest,
    Strict,
}

/// `plimsoll run`
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = RUN_EXAMPLES)]
pub(crate) struct RunFlags {
    #[command(flatten)]
    pub(crate) script: ScriptFlags,
    #[command(flatten)]
    pub(crate) options: OptionFlags,
    #[command(flatten)]
    pub(crate) results: ResultFlags,
    #[command(flatten)]
    pub(crate) record: RecordFlags,
    #[command(flatten)]
    pub(crate) evidence: EvidenceFlags,
    #[command(flatten)]
    pub(crate) otlp: OtlpFlags,
    #[command(flatten)]
    pub(crate) series: SeriesFlags,
    #[command(flatten)]
    pub(crate) agents: AgentsFlags,
    #[command(flatten)]
    pub(crate) limits: LimitFlags,
    /// Worker threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) workers: Option<u16>,
    /// Keep serving the REST API after the test ends, until it is stopped
    #[arg(short, long, default_missing_value = "true", num_args = 0..=1, require_equals = true, value_name = "BOOL", hide_possible_values = true)]
    pub(crate) linger: Option<bool>,
    /// Disable the run's web page [default: false with a terminal, else true]
    #[arg(long, default_missing_value = "true", num_args = 0..=1, require_equals = true, value_name = "BOOL", hide_possible_values = true)]
    pub(crate) no_page: Option<bool>,
    #[arg(long, hide = true, default_missing_value = "true", num_args = 0..=1, require_equals = true)]
    pub(crate) no_usage_report: Option<bool>,
    #[arg(long, hide = true)]
    pub(crate) traces_output: Option<String>,
}

const RUN_EXAMPLES: &str = "\
Examples:
  plimsoll run script.js                                one iteration by one VU
  plimsoll run -u 5 -i 10 script.js                     10 iterations by 5 VUs
  plimsoll run -u 5 -d 10s script.js                    5 VUs for 10 seconds
  plimsoll run -s 10s:100 -s 1m:100 -s 5s:0 script.js   ramp up, hold, ramp down
  plimsoll run -e HOST=https://test.example script.js   set __ENV.HOST
  plimsoll run --out json=points.json script.js         write every sample as a line of JSON
  plimsoll run --agents 4 script.js                     four processes of this machine, one result
  plimsoll run --kubernetes --agents 20 --image plimsoll:0.1.0 --hub-address 10.0.0.5:7000 script.js
                                                        20 pods of a Kubernetes cluster, one result
  plimsoll run --otlp script.js                         receive server traces on ports 4317 and 4318
  plimsoll run - < script.js                            read the script from standard input
  plimsoll run --repeat 5 script.js                     five runs, and the variation between them
  plimsoll run -e HOST=https://old.example --interleave HOST=https://new.example --fail-on regressed script.js
                                                        A/B test of two targets, three runs each, alternating
  plimsoll run --interleave new.js --repeat 5 old.js    A/B test of two scripts
  plimsoll run --observer-effect --otlp script.js       overhead of tracing: three runs with it, three without

Exit codes:
  0 passed, 99 thresholds crossed, 100 setup timed out, 101 teardown timed out,
  103 stopped through the REST API, 104 invalid options, 105 stopped by a signal,
  106 the REST API cannot listen at --address, 107 exception in the script, 108 test.abort(),
  110 test.fail(), 120 measurement not valid (--require-valid), 121 regressed and 125 nothing judged
  (--interleave with --fail-on regressed), 123 passed, and the run or a report is not stored or not all of it,
  255 any other error; several runs exit with the worst code";

const DEMO_EXAMPLES: &str = "\
Examples:
  plimsoll demo                          test the built-in shop, find its bottleneck, fix it and test again
  plimsoll demo --full                   print everything that both tests measured
  plimsoll demo --safe-load              measure the safe load of the fixed shop
  plimsoll demo --report html=demo.html  write a report, too";

const INSPECT_EXAMPLES: &str = "\
Examples:
  plimsoll inspect script.js                            print the script's options
  plimsoll inspect --execution-requirements script.js   add the VUs and the duration that the test needs";

const ARCHIVE_EXAMPLES: &str = "\
Examples:
  plimsoll archive script.js                 write archive.tar
  plimsoll archive -O checkout.tar script.js && plimsoll run checkout.tar";

const DEPS_EXAMPLES: &str = "\
Examples:
  plimsoll deps script.js          list the modules that the script imports
  plimsoll deps --json script.js   print them as JSON";

const STATUS_EXAMPLES: &str = "\
Examples:
  plimsoll status                           the test at localhost:6565
  plimsoll status --address localhost:7000  a test at another address";

const STATS_EXAMPLES: &str = "\
Examples:
  plimsoll stats                           the metrics of the test at localhost:6565
  plimsoll stats --address localhost:7000  the metrics of a test at another address";

const PAUSE_EXAMPLES: &str = "\
Running iterations finish; no new ones start.

Examples:
  plimsoll pause
  plimsoll resume";

const RESUME_EXAMPLES: &str = "\
Examples:
  plimsoll run --paused script.js   in one terminal: prepare the VUs and wait
  plimsoll resume                   in another: start the test";

const SCALE_EXAMPLES: &str = "\
Examples:
  plimsoll scale --vus 20   run 20 VUs from now on";

const VERSION_EXAMPLES: &str = "\
Examples:
  plimsoll version
  plimsoll version --json";

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  plimsoll completions bash > ~/.local/share/bash-completion/completions/plimsoll
  plimsoll completions zsh > ~/.zfunc/_plimsoll";

/// Outputs of a run.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Results")]
pub(crate) struct ResultFlags {
    /// Export while the test runs: json=FILE, csv=FILE, influxdb=URL, statsd=HOST:PORT,
    /// experimental-prometheus-rw=URL or opentelemetry=URL; repeatable
    #[arg(short, long, value_name = "KIND[=ARGUMENT]")]
    pub(crate) out: Vec<String>,
    /// Format of the end-of-test summary: compact, full, legacy or disabled
    #[arg(long, value_name = "MODE")]
    pub(crate) summary_mode: Option<String>,
    #[arg(long, hide = true, default_missing_value = "true", num_args = 0..=1, require_equals = true)]
    pub(crate) no_summary: Option<bool>,
    /// Write the summary to a JSON file
    #[arg(long, value_name = "FILE")]
    pub(crate) summary_export: Option<PathBuf>,
    /// Use k6's newer JSON shape for --summary-export and handleSummary()
    #[arg(long, default_missing_value = "true", num_args = 0..=1, require_equals = true, value_name = "BOOL", hide_possible_values = true)]
    pub(crate) new_machine_readable_summary: Option<bool>,
    /// Ignore thresholds
    #[arg(long, default_missing_value = "true", num_args = 0..=1, require_equals = true, value_name = "BOOL", hide_possible_values = true)]
    pub(crate) no_thresholds: Option<bool>,
    /// Exit with code 120 unless the measurement is valid
    #[arg(long, default_missing_value = "true", num_args = 0..=1, require_equals = true, value_name = "BOOL", hide_possible_values = true)]
    pub(crate) require_valid: Option<bool>,
}

/// `plimsoll demo`
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = DEMO_EXAMPLES)]
pub(crate) struct DemoFlags {
    #[command(flatten)]
    pub(crate) record: RecordFlags,
    /// Worker threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) workers: Option<u16>,
    /// Print the whole summary and diagnosis of both tests, too
    #[arg(long)]
    pub(crate) full: bool,
    /// Measure the safe load of the shop after the change instead, in about two minutes
    #[arg(long, conflicts_with_all = ["full", "report"])]
    pub(crate) safe_load: bool,
    /// Language of the answer
    #[arg(long, value_name = "LANGUAGE", default_value = "en")]
    pub(crate) lang: LangFlag,
}

/// `plimsoll inspect`
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = INSPECT_EXAMPLES)]
pub(crate) struct InspectFlags {
    #[command(flatten)]
    pub(crate) script: ScriptFlags,
    #[command(flatten)]
    pub(crate) limits: LimitFlags,
    /// Consolidate options from all sources, and add the VUs and the duration that the test needs
    #[arg(long)]
    pub(crate) execution_requirements: bool,
}

/// `plimsoll archive`
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = ARCHIVE_EXAMPLES)]
pub(crate) struct ArchiveFlags {
    #[command(flatten)]
    pub(crate) script: ScriptFlags,
    #[command(flatten)]
    pub(crate) options: OptionFlags,
    /// Path of the archive; - writes to standard output
    #[arg(short = 'O', long, value_name = "FILE", default_value = "archive.tar")]
    pub(crate) archive_out: PathBuf,
    /// Exclude the variables of __ENV
    #[arg(long, default_missing_value = "true", num_args = 0..=1, require_equals = true, value_name = "BOOL", default_value = "false", action = clap::ArgAction::Set, hide_possible_values = true)]
    pub(crate) exclude_env_vars: bool,
    #[arg(long, hide = true, default_missing_value = "true", num_args = 0..=1, require_equals = true)]
    pub(crate) no_thresholds: Option<bool>,
}

/// `plimsoll deps`
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = DEPS_EXAMPLES)]
pub(crate) struct DepsFlags {
    #[command(flatten)]
    pub(crate) script: ScriptFlags,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `plimsoll scale`
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = SCALE_EXAMPLES)]
pub(crate) struct ScaleFlags {
    /// Number of VUs
    #[arg(short = 'u', long, value_name = "N", required_unless_present = "max")]
    pub(crate) vus: Option<u32>,
    /// Maximum number of VUs
    #[arg(short, long, value_name = "N")]
    pub(crate) max: Option<u32>,
}

/// `plimsoll version`
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = VERSION_EXAMPLES)]
pub(crate) struct VersionFlags {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `plimsoll completions`
#[derive(Clone, Debug, Args)]
#[command(after_help = COMPLETIONS_EXAMPLES)]
pub(crate) struct CompletionsFlags {
    /// Shell to generate the script for
    pub(crate) shell: clap_complete::Shell,
}

macro_rules! option_flags {
    (
        values {$(
            $(#[doc = $doc:literal])* $([$short:literal])? $name:literal $field:ident: $kind:ty = $value:literal;
        )*}
        switches {$(
            $(#[doc = $switch_doc:literal])* $([$switch_short:literal])? $switch_name:literal $switch:ident;
        )*}
    ) => {
        /// Flags that set options of the test.
        #[derive(Clone, Debug, Default, Args)]
        #[command(next_help_heading = "Test options")]
        pub(crate) struct OptionFlags {
            $(
                $(#[doc = $doc])*
                #[arg(long = $name $(, short = $short)?, value_name = $value, allow_hyphen_values = true)]
                pub(crate) $field: $kind,
            )*
            $(
                $(#[doc = $switch_doc])*
                #[arg(
                    long = $switch_name $(, short = $switch_short)?, value_name = "BOOL", num_args = 0..=1,
                    require_equals = true, default_missing_value = "true", hide_possible_values = true,
                )]
                pub(crate) $switch: Option<bool>,
            )*
            /// Run one iteration of each scenario
            #[arg(long)]
            pub(crate) once: bool,
            /// Print request and response headers; `full` adds bodies
            #[arg(long, value_name = "full", num_args = 0..=1, require_equals = true, default_missing_value = "headers")]
            pub(crate) http_debug: Option<String>,
            /// Start paused; begin with `plimsoll resume`
            #[arg(short, long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", hide_possible_values = true)]
            pub(crate) paused: Option<bool>,
            /// Load that a study runs instead of the scenarios; it has no flag.
            #[arg(skip)]
            pub(crate) constant: Option<ConstantLoad>,
        }

        impl OptionFlags {
            /// Converts the flags to the input of crate `plan`.
            pub(crate) fn to_cli_options(&self) -> CliOptions {
                CliOptions {
                    $($field: self.$field.clone(),)*
                    $($switch: self.$switch,)*
                    once: self.once,
                    http_debug: self.http_debug.clone(),
                    paused: self.paused,
                    constant: self.constant.clone(),
                    limits: Default::default(),
                }
            }
        }
    };
}

option_flags! {
    values {
        /// Number of VUs
        ['u'] "vus" vus: Option<String> = "N";
        /// Duration of the test, such as 30s or 5m
        ['d'] "duration" duration: Option<String> = "TIME";
        /// Number of iterations, shared by all VUs
        ['i'] "iterations" iterations: Option<String> = "N";
        /// Add a stage that ramps to VUS within TIME; repeatable
        ['s'] "stage" stages: Vec<String> = "TIME:VUS";
        /// Run only these scenarios, comma-separated
        "scenario" scenarios: Vec<String> = "NAMES";
        /// Run only this execution segment: 10%, 1/3, 0.2:2/3
        "execution-segment" execution_segment: Option<String> = "PART";
        /// Boundaries of all execution segments, such as 0,1/3,2/3,1
        "execution-segment-sequence" execution_segment_sequence: Option<String> = "BOUNDS";
        /// Maximum number of redirects to follow [default: 10]
        "max-redirects" max_redirects: Option<String> = "N";
        /// Maximum parallel requests of http.batch() [default: 20]
        "batch" batch: Option<String> = "N";
        /// Maximum parallel requests of http.batch() per host [default: 6]
        "batch-per-host" batch_per_host: Option<String> = "N";
        /// Maximum requests per second over all VUs
        "rps" rps: Option<String> = "N";
        /// User-Agent header of HTTP requests
        "user-agent" user_agent: Option<String> = "TEXT";
        /// Minimum duration of an iteration
        "min-iteration-duration" min_iteration_duration: Option<String> = "TIME";
        /// Block connections to this network; repeatable
        "blacklist-ip" blacklist_ips: Vec<String> = "CIDR";
        /// Block connections to hosts that match this pattern; repeatable
        "block-hostnames" block_hostnames: Vec<String> = "PATTERN";
        /// Statistics of trend metrics in the summary, such as avg,p(95),count
        "summary-trend-stats" summary_trend_stats: Vec<String> = "STATS";
        /// Time unit of the summary: s, ms or us
        "summary-time-unit" summary_time_unit: Option<String> = "UNIT";
        /// System tags to set, comma-separated
        "system-tags" system_tags: Vec<String> = "TAGS";
        /// Add a tag to every sample; repeatable
        "tag" tags: Vec<String> = "NAME=VALUE";
        /// Write console output of the script to a file
        "console-output" console_output: Option<String> = "FILE";
        /// Local IP addresses that VUs connect from
        "local-ips" local_ips: Option<String> = "RANGES";
        /// DNS settings, such as ttl=5m,select=random,policy=preferIPv4
        "dns" dns: Option<String> = "SETTINGS";
        /// k6 feature flags, comma-separated
        "features" features: Vec<String> = "NAMES";
    }
    switches {
        /// Skip setup()
        "no-setup" no_setup;
        /// Skip teardown()
        "no-teardown" no_teardown;
        /// Accept any TLS certificate
        "insecure-skip-tls-verify" insecure_skip_tls_verify;
        /// Open a new connection for every request
        "no-connection-reuse" no_connection_reuse;
        /// Close connections after each iteration
        "no-vu-connection-reuse" no_vu_connection_reuse;
        /// Throw an exception when a request fails
        ['w'] "throw" throw;
        /// Discard response bodies after reading them
        "discard-response-bodies" discard_response_bodies;
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn flags_do_not_clash() {
        Cli::command().debug_assert();
    }

    #[track_caller]
    fn parse(words: &[&str]) -> Result<Cli, String> {
        Cli::try_parse_from(words).map_err(|error| error.to_string())
    }

    #[test]
    fn flags_are_those_of_k6() {
        let words =
            ["plimsoll", "run", "-u10", "-s", "5s:1", "-s", "1m:2", "--throw", "-e", "A=b", "-", "-q"];
        let cli = parse(&words).expect("k6's spelling");
        assert_eq!(cli.global.quiet, Some(true));
        let Verb::Run(run) = cli.verb else { panic!("it is run") };
        assert_eq!(run.script.script, PathBuf::from("-"));
        assert_eq!(run.script.env, ["A=b"]);
        let options = run.options.to_cli_options();
        assert_eq!(options.vus.as_deref(), Some("10"));
        assert_eq!(options.stages, ["5s:1", "1m:2"]);
        assert_eq!(options.throw, Some(true));
    }

    #[test]
    fn a_misspelt_flag_gets_a_suggestion() {
        let error = parse(&["plimsoll", "run", "--vu", "1", "x.js"]).expect_err("there is no --vu");
        assert!(error.contains("'--vus'"), "{error}");
        let error = parse(&["plimsoll", "rum", "x.js"]).expect_err("there is no such verb");
        assert!(error.contains("'run'"), "{error}");
    }
}
