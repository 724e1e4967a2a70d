//! What was typed. Every flag of k6 that has a meaning here has k6's name and short form; [`crate::settings`] decides
//! what they mean.

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
mod otlp;
mod series;
mod serve;
mod stored;
mod study;

pub(crate) use self::import::ImportFlags;
#[cfg(feature = "lab")]
pub(crate) use self::lab::{LabFaultFlags, LabFlags, LabUpFlags, LabVerb};
pub(crate) use self::otlp::OtlpFlags;
pub(crate) use audit::{AuditFlags, AuditFormat, FailOnFlag};
pub(crate) use calibrate::{CalibrateFlags, SplitTestFlags};
pub(crate) use compare::{CompareFlags, CompareFormat, HistoryFlags, HistoryFormat, JudgeFlags};
pub(crate) use diagnose::DiagnoseFlags;
pub(crate) use evidence::{CollectFlags, DoctorFlags, EvidenceFlags};
pub(crate) use host_agent::HostAgentFlags;
pub(crate) use series::SeriesFlags;
pub(crate) use serve::ServeFlags;
pub(crate) use stored::{
    ExportFlags, ExportFormat, LangFlag, MergeFlags, NoteFlags, PruneFlags, RecordFlags, ReportFlags,
    ReportFormat, RunsFlags, RunsListFlags, RunsVerb, ShowFlags, StatusFlag,
};
pub(crate) use study::{CapacityFlags, StudyFlags, SweepFlags};

/// Load tests with k6 scripts, with numbers that do not flatter.
#[derive(Debug, Parser)]
#[command(
    name = "plimsoll",
    version,
    max_term_width = 110,
    propagate_version = false,
    subcommand_required = true,
    arg_required_else_help = true,
    args_override_self = true,
    after_help = "Examples:\n  plimsoll demo                            see a test run against a built-in shop\n  \
                  plimsoll run script.js                   run a script\n  \
                  plimsoll run -u 10 -d 30s script.js      10 VUs for 30 seconds\n  \
                  plimsoll inspect script.js               show a script's options\n  \
                  plimsoll runs                            list the runs so far\n  \
                  plimsoll show @last                      show the last one again\n  \
                  plimsoll report @last --format md        a report for a pull request\n  \
                  plimsoll serve                           all runs on a page in the browser\n  \
                  plimsoll compare @prev @last             what changed between two runs\n  \
                  plimsoll diagnose @last                  what limits the target, and how that is known"
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) verb: Verb,
    #[command(flatten)]
    pub(crate) global: GlobalFlags,
}

/// The verbs, one file each.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Run a test.
    Run(Box<RunFlags>),
    /// Run an example against a small shop that is started for it, and compare with what the shop can do.
    Demo(DemoFlags),
    /// List the runs that are stored, and delete old ones.
    Runs(RunsFlags),
    /// Show a run as its terminal did, or a part of it.
    Show(ShowFlags),
    /// Report on a run as HTML, Markdown, JSON or JUnit.
    Report(ReportFlags),
    /// Show all runs on a page in the browser.
    Serve(ServeFlags),
    /// Find the highest load that keeps what is asked of a system, and what ends it.
    Capacity(Box<CapacityFlags>),
    /// Measure a script at several loads, and say what each is worth.
    Sweep(Box<SweepFlags>),
    /// Compare runs with earlier ones: what improved, what regressed, what nobody can say yet.
    Compare(CompareFlags),
    /// List the runs of a script with their figures, and find between which of them something changed.
    History(HistoryFlags),
    /// Write a run's numbers, or its file, for other programs.
    Export(ExportFlags),
    /// Make runs of the results of k6 and nGrinder.
    Import(ImportFlags),
    /// Make one run of the segments of a test.
    Merge(MergeFlags),
    /// Find mistakes in runs and in tables of results that arithmetic can catch.
    Audit(AuditFlags),
    /// Say what limits the target, how that is known, and what would prove it wrong.
    Diagnose(DiagnoseFlags),
    /// Try the sources of evidence, and say what each lacks.
    Doctor(DoctorFlags),
    /// Ask servers about the time of a run that is over, or about any other, and keep what they tell.
    Collect(CollectFlags),
    /// Tell runs on other machines what this one does.
    HostAgent(HostAgentFlags),
    /// Write a note beside a run.
    Note(NoteFlags),
    /// Make the same load from one process and from two, and say whether the generator limits what is measured.
    SplitTest(SplitTestFlags),
    /// Measure what this machine can send, against a server on its own loopback.
    Calibrate(CalibrateFlags),
    /// Say whether all that a script uses exists, and print its options as JSON.
    Inspect(Box<InspectFlags>),
    /// Pack a script with all it needs into one file, which runs elsewhere and offline.
    Archive(Box<ArchiveFlags>),
    /// List what a script imports.
    Deps(Box<DepsFlags>),
    /// Write a script to start from.
    New(NewFlags),
    /// Start real systems to load, plant faults in them, and end them.
    #[cfg(feature = "lab")]
    Lab(LabFlags),
    /// Show how a running test stands.
    Status,
    /// Show the metrics of a running test so far.
    Stats,
    /// Start no further iterations of a running externally-controlled test.
    Pause,
    /// Start a test that was started with --paused, or go on with one that was paused.
    Resume,
    /// Change the number of VUs of a running externally-controlled test.
    Scale(ScaleFlags),
    /// Print the version.
    Version(VersionFlags),
    /// Print a completion script for a shell.
    #[command(alias = "completion")]
    Completions(CompletionsFlags),
}

/// Flags that stand before or after every verb.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Global flags")]
pub(crate) struct GlobalFlags {
    /// JSON file with options [default: plimsoll/config.json, else k6/config.json, in the user's config folder]
    #[arg(short, long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Format of log lines: text, json or raw
    #[arg(long, global = true, value_name = "FORMAT")]
    pub(crate) log_format: Option<String>,
    /// Where log lines go: stderr, stdout, none, file=PATH or loki=URL
    #[arg(long, global = true, value_name = "WHERE")]
    pub(crate) log_output: Option<String>,
    /// No colours
    #[arg(long, alias = "no-colour", global = true, default_missing_value = "true", num_args = 0..=1, require_equals = true, value_name = "BOOL", hide_possible_values = true)]
    pub(crate) no_color: Option<bool>,
    /// No progress and no banner
    #[arg(short, long, global = true, default_missing_value = "true", num_args = 0..=1, require_equals = true, value_name = "BOOL", hide_possible_values = true)]
    pub(crate) quiet: Option<bool>,
    /// Log what is usually not worth a word
    #[arg(short, long, global = true, default_missing_value = "true", num_args = 0..=1, require_equals = true, value_name = "BOOL", hide_possible_values = true)]
    pub(crate) verbose: Option<bool>,
    /// Where runs are stored: a directory or s3://bucket/prefix [default: plimsoll/runs in the user's data folder]
    #[arg(long, global = true, value_name = "PLACE")]
    pub(crate) runs: Option<String>,
    /// Where the test's REST API is: host:port, or :port with PLIMSOLL_API_TOKEN [default: localhost:6565, served when needed]
    #[arg(short, long, global = true, value_name = "ADDRESS")]
    pub(crate) address: Option<String>,
    #[arg(long, global = true, hide = true, default_missing_value = "true", num_args = 0..=1, require_equals = true)]
    pub(crate) profiling_enabled: Option<bool>,
    /// Where k6/secrets finds secrets: file=PATH, mock=KEY=VALUE,… or url=urlTemplate=URL,…; repeatable
    #[arg(long, global = true, value_name = "SOURCE")]
    pub(crate) secret_source: Vec<String>,
}

/// How a script is found and what it is shown.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Script")]
pub(crate) struct ScriptFlags {
    /// Path of the script or archive, or its https:// URL; - reads it from standard input
    #[arg(value_name = "SCRIPT")]
    pub(crate) script: PathBuf,
    /// Set a variable of the script's __ENV
    #[arg(short, long = "env", value_name = "NAME=VALUE")]
    pub(crate) env: Vec<String>,
    /// Show the script the process's variables too [default: true for run, false for inspect]
    #[arg(long, default_missing_value = "true", num_args = 0..=1, require_equals = true, value_name = "BOOL", hide_possible_values = true)]
    pub(crate) include_system_env_vars: Option<bool>,
    /// Whose numbers are reported: honest counts failures as failures, strict is k6 to the letter
    #[arg(long, value_name = "MODE")]
    pub(crate) compat: Option<CompatFlag>,
    /// Fetch remote modules anew and write their hashes into plimsoll.lock beside the script
    #[arg(long)]
    pub(crate) lock: bool,
    /// Load only remote modules that are in plimsoll.lock
    #[arg(long, conflicts_with = "lock")]
    pub(crate) frozen: bool,
    /// Where remote modules are kept [default: plimsoll in the user's cache folder]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) cache: Option<PathBuf>,
    #[arg(long, hide = true)]
    pub(crate) compatibility_mode: Option<String>,
    /// What the file is: js or archive [default: what it looks like]
    #[arg(short = 't', long = "type", value_name = "TYPE")]
    pub(crate) kind: Option<String>,
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
    /// Worker threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) workers: Option<u16>,
    /// Serve the REST API after the test's end, too, until it is told to stop
    #[arg(short, long, default_missing_value = "true", num_args = 0..=1, require_equals = true, value_name = "BOOL", hide_possible_values = true)]
    pub(crate) linger: Option<bool>,
    /// No page to watch the run on [default: false with a terminal, else true]
    #[arg(long, default_missing_value = "true", num_args = 0..=1, require_equals = true, value_name = "BOOL", hide_possible_values = true)]
    pub(crate) no_page: Option<bool>,
    #[arg(long, hide = true, default_missing_value = "true", num_args = 0..=1, require_equals = true)]
    pub(crate) no_usage_report: Option<bool>,
    #[arg(long, hide = true)]
    pub(crate) traces_output: Option<String>,
}

const RUN_EXAMPLES: &str = "\
Examples:
  plimsoll run script.js                                one VU, once
  plimsoll run -u 5 -i 10 script.js                     10 iterations by 5 VUs
  plimsoll run -u 5 -d 10s script.js                    5 VUs for 10 seconds
  plimsoll run -s 10s:100 -s 1m:100 -s 5s:0 script.js   a ramp up, a plateau, a ramp down
  plimsoll run -e HOST=https://test.example script.js   with __ENV.HOST
  plimsoll run --out json=points.json script.js         every sample as a line of JSON
  plimsoll run --otlp script.js                         with the traces of servers that send to port 4317 or 4318
  plimsoll run - < script.js                            a script from standard input
  plimsoll run --repeat 5 script.js                     five runs, and how far they differ
  plimsoll run -e HOST=https://old.example --interleave HOST=https://new.example --fail-on regressed script.js
                                                        A/B of two targets, three runs each, in turn
  plimsoll run --interleave new.js --repeat 5 old.js    A/B of two scripts
  plimsoll run --observer-effect --otlp script.js       what tracing costs, three runs with it and three without

Exit codes:
  0 fine, 99 thresholds crossed, 100 setup timed out, 101 teardown timed out,
  103 stopped through the REST API, 104 options are wrong, 105 stopped by a signal,
  106 no REST API where --address says, 107 the script threw, 108 test.abort(),
  110 test.fail(), 120 the measurement is not valid (--require-valid), 121 regressed
  (--interleave with --fail-on regressed), 255 anything else; of several runs the worst";

/// What becomes of the results.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Results")]
pub(crate) struct ResultFlags {
    /// Export while the test runs: json=FILE, csv=FILE, influxdb=URL, statsd=HOST:PORT,
    /// experimental-prometheus-rw=URL or opentelemetry=URL; repeatable
    #[arg(short, long, value_name = "KIND[=ARGUMENT]")]
    pub(crate) out: Vec<String>,
    /// The summary at the end: compact, full, legacy or disabled
    #[arg(long, value_name = "MODE")]
    pub(crate) summary_mode: Option<String>,
    #[arg(long, hide = true, default_missing_value = "true", num_args = 0..=1, require_equals = true)]
    pub(crate) no_summary: Option<bool>,
    /// Write the summary as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) summary_export: Option<PathBuf>,
    /// Use k6's newer JSON shape for --summary-export and handleSummary()
    #[arg(long, default_missing_value = "true", num_args = 0..=1, require_equals = true, value_name = "BOOL", hide_possible_values = true)]
    pub(crate) new_machine_readable_summary: Option<bool>,
    /// Ignore thresholds
    #[arg(long, default_missing_value = "true", num_args = 0..=1, require_equals = true, value_name = "BOOL", hide_possible_values = true)]
    pub(crate) no_thresholds: Option<bool>,
    /// Exit with 120 unless the measurement is valid
    #[arg(long, default_missing_value = "true", num_args = 0..=1, require_equals = true, value_name = "BOOL", hide_possible_values = true)]
    pub(crate) require_valid: Option<bool>,
}

/// `plimsoll demo`
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct DemoFlags {
    #[command(flatten)]
    pub(crate) record: RecordFlags,
    /// Worker threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) workers: Option<u16>,
}

/// `plimsoll inspect`
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct InspectFlags {
    #[command(flatten)]
    pub(crate) script: ScriptFlags,
    /// Merge all sources, and add the VUs and the time that the test needs
    #[arg(long)]
    pub(crate) execution_requirements: bool,
}

/// `plimsoll archive`
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ArchiveFlags {
    #[command(flatten)]
    pub(crate) script: ScriptFlags,
    #[command(flatten)]
    pub(crate) options: OptionFlags,
    /// The archive's file; - writes it to standard output
    #[arg(short = 'O', long, value_name = "FILE", default_value = "archive.tar")]
    pub(crate) archive_out: PathBuf,
    /// Leave the variables of __ENV out
    #[arg(long, default_missing_value = "true", num_args = 0..=1, require_equals = true, value_name = "BOOL", default_value = "false", action = clap::ArgAction::Set, hide_possible_values = true)]
    pub(crate) exclude_env_vars: bool,
    #[arg(long, hide = true, default_missing_value = "true", num_args = 0..=1, require_equals = true)]
    pub(crate) no_thresholds: Option<bool>,
}

/// `plimsoll deps`
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct DepsFlags {
    #[command(flatten)]
    pub(crate) script: ScriptFlags,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `plimsoll new`
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct NewFlags {
    /// The script's file [default: script.js]
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Overwrite the file if it exists
    #[arg(short, long)]
    pub(crate) force: bool,
    /// minimal, protocol, or the path of a file
    #[arg(long, value_name = "TEMPLATE", default_value = "minimal")]
    pub(crate) template: String,
}

/// `plimsoll scale`
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ScaleFlags {
    /// So many VUs
    #[arg(short = 'u', long, value_name = "N", required_unless_present = "max")]
    pub(crate) vus: Option<u32>,
    /// So many VUs at most
    #[arg(short, long, value_name = "N")]
    pub(crate) max: Option<u32>,
}

/// `plimsoll version`
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct VersionFlags {
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `plimsoll completions`
#[derive(Clone, Debug, Args)]
pub(crate) struct CompletionsFlags {
    /// The shell
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
        #[command(next_help_heading = "Options of the test")]
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
            /// One iteration of each scenario
            #[arg(long)]
            pub(crate) once: bool,
            /// Print requests and responses; `full` with their bodies
            #[arg(long, value_name = "full", num_args = 0..=1, require_equals = true, default_missing_value = "headers")]
            pub(crate) http_debug: Option<String>,
            /// Wait with everything until `plimsoll resume`
            #[arg(short, long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", hide_possible_values = true)]
            pub(crate) paused: Option<bool>,
            /// What a study puts in the place of the scenarios; nobody types it.
            #[arg(skip)]
            pub(crate) constant: Option<ConstantLoad>,
        }

        impl OptionFlags {
            /// The same as the room `plan` reads it.
            pub(crate) fn to_cli_options(&self) -> CliOptions {
                CliOptions {
                    $($field: self.$field.clone(),)*
                    $($switch: self.$switch,)*
                    once: self.once,
                    http_debug: self.http_debug.clone(),
                    paused: self.paused,
                    constant: self.constant.clone(),
                }
            }
        }
    };
}

option_flags! {
    values {
        /// VUs
        ['u'] "vus" vus: Option<String> = "N";
        /// Run for a time
        ['d'] "duration" duration: Option<String> = "TIME";
        /// Run so many iterations, shared by all VUs
        ['i'] "iterations" iterations: Option<String> = "N";
        /// Add a stage: reach so many VUs within a time; repeatable
        ['s'] "stage" stages: Vec<String> = "TIME:VUS";
        /// Run only these scenarios, comma-separated
        "scenario" scenarios: Vec<String> = "NAMES";
        /// Run only this part of the test: 10%, 1/3, 0.2:2/3
        "execution-segment" execution_segment: Option<String> = "PART";
        /// How the whole test is cut into parts
        "execution-segment-sequence" execution_segment_sequence: Option<String> = "BOUNDS";
        /// Follow so many redirects [default: 10]
        "max-redirects" max_redirects: Option<String> = "N";
        /// Parallel requests of http.batch() [default: 20]
        "batch" batch: Option<String> = "N";
        /// Parallel requests of http.batch() to one host [default: 6]
        "batch-per-host" batch_per_host: Option<String> = "N";
        /// Limit requests per second, of all VUs together
        "rps" rps: Option<String> = "N";
        /// The User-Agent header
        "user-agent" user_agent: Option<String> = "TEXT";
        /// An iteration takes at least this long
        "min-iteration-duration" min_iteration_duration: Option<String> = "TIME";
        /// Never connect to these networks; repeatable
        "blacklist-ip" blacklist_ips: Vec<String> = "CIDR";
        /// Never connect to hosts of these names; repeatable
        "block-hostnames" block_hostnames: Vec<String> = "PATTERN";
        /// Columns of trends in the summary: avg,p(95),count
        "summary-trend-stats" summary_trend_stats: Vec<String> = "STATS";
        /// One unit for all times in the summary: s, ms or us
        "summary-time-unit" summary_time_unit: Option<String> = "UNIT";
        /// Set only these system tags
        "system-tags" system_tags: Vec<String> = "TAGS";
        /// A tag on every sample; repeatable
        "tag" tags: Vec<String> = "NAME=VALUE";
        /// Where console.log() and its kin write
        "console-output" console_output: Option<String> = "FILE";
        /// Local addresses for the VUs to connect from
        "local-ips" local_ips: Option<String> = "RANGES";
        /// How names are resolved: ttl=5m,select=random,policy=preferIPv4
        "dns" dns: Option<String> = "SETTINGS";
        /// k6's feature flags
        "features" features: Vec<String> = "NAMES";
    }
    switches {
        /// Skip setup()
        "no-setup" no_setup;
        /// Skip teardown()
        "no-teardown" no_teardown;
        /// Accept any TLS certificate
        "insecure-skip-tls-verify" insecure_skip_tls_verify;
        /// Open a connection for every request
        "no-connection-reuse" no_connection_reuse;
        /// Close connections after each iteration
        "no-vu-connection-reuse" no_vu_connection_reuse;
        /// Requests that fail throw
        ['w'] "throw" throw;
        /// Read response bodies and drop them
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
    fn a_misspelt_flag_is_told_its_neighbour() {
        let error = parse(&["plimsoll", "run", "--vu", "1", "x.js"]).expect_err("there is no --vu");
        assert!(error.contains("'--vus'"), "{error}");
        let error = parse(&["plimsoll", "rum", "x.js"]).expect_err("there is no such verb");
        assert!(error.contains("'run'"), "{error}");
    }
}
