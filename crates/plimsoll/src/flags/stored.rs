//! Flags of the subcommands that read and manage stored runs.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// Flags of subcommands that store a new run.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Storage")]
pub(crate) struct RecordFlags {
    /// Do not store the run
    #[arg(long, default_missing_value = "true", num_args = 0..=1, require_equals = true, value_name = "BOOL", hide_possible_values = true)]
    pub(crate) no_store: Option<bool>,
    /// Name of the run
    #[arg(long, value_name = "TEXT")]
    pub(crate) name: Option<String>,
    /// Add a note to the run; repeatable
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Vec<String>,
    /// Version of the target
    #[arg(long, value_name = "TEXT")]
    pub(crate) target_version: Option<String>,
    /// Store the values of these variables of the script, comma-separated [default: numbers, durations, plain addresses]; repeatable
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) store_env: Vec<String>,
    /// Write reports at the end: html=FILE, md=FILE, json=FILE, junit=FILE, comma-separated; repeatable
    #[arg(long, value_name = "FORMAT=FILE", value_delimiter = ',')]
    pub(crate) report: Vec<String>,
}

/// `plimsoll runs`
#[derive(Clone, Debug, Default, Args)]
#[command(args_conflicts_with_subcommands = true, after_help = RUNS_EXAMPLES)]
pub(crate) struct RunsFlags {
    #[command(subcommand)]
    pub(crate) verb: Option<RunsVerb>,
    #[command(flatten)]
    pub(crate) list: RunsListFlags,
}

const RUNS_EXAMPLES: &str = "\
Examples:
  plimsoll runs                                    list the latest runs, newest first
  plimsoll runs --status failed --since 7d         runs that failed in the last week
  plimsoll runs --script checkout --tag env=stage  runs of a script that have a tag
  plimsoll runs --json | jq '.[].id'               print ids from JSON
  plimsoll runs --verify                           check the files of all runs against their checksums
  plimsoll runs --verify @last copy.plimsoll       check the last run and a copied file
  plimsoll runs prune --older-than 30d --dry-run   list the runs that a clean-up would delete

Exit codes of --verify: 0 no file is damaged, 122 one is damaged, 255 one cannot be read or is no run.";

/// Filters and format of the list.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct RunsListFlags {
    /// Only runs whose name or script name contains TEXT
    #[arg(long, value_name = "TEXT")]
    pub(crate) script: Option<String>,
    /// Only runs with this tag; repeatable
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) tag: Vec<String>,
    /// Only runs with this status
    #[arg(long, value_name = "STATUS")]
    pub(crate) status: Option<StatusFlag>,
    /// Only runs that started after a date (2026-11-21) or within a span (12h, 7d)
    #[arg(long, value_name = "WHEN")]
    pub(crate) since: Option<String>,
    /// Maximum number of runs to list
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) limit: usize,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Check files against their checksums: those of RUN, or all
    #[arg(long, conflicts_with_all = ["script", "tag", "status", "since", "limit"])]
    pub(crate) verify: bool,
    /// Runs to verify: @last, @prev, an id prefix, or a path [default: all]
    #[arg(value_name = "RUN", requires = "verify")]
    pub(crate) verified: Vec<String>,
    /// Language of --verify
    #[arg(long, value_name = "LANGUAGE", default_value = "en", requires = "verify")]
    pub(crate) lang: LangFlag,
}

/// Status of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StatusFlag {
    /// Ended with exit code 0.
    Passed,
    /// Ended with another exit code.
    Failed,
    /// Did not end: killed, or the disk was full.
    Partial,
    /// Still running.
    Live,
}

/// Subcommands of `plimsoll runs`.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum RunsVerb {
    /// Delete old runs, after listing them and asking for confirmation.
    Prune(PruneFlags),
}

/// `plimsoll runs prune`
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = PRUNE_EXAMPLES)]
pub(crate) struct PruneFlags {
    /// Delete runs older than this, such as 30d
    #[arg(long, value_name = "SPAN")]
    pub(crate) older_than: Option<String>,
    /// Keep only the newest N runs
    #[arg(long, value_name = "N")]
    pub(crate) keep: Option<usize>,
    /// Delete the oldest runs until the rest fits into this size
    #[arg(long, value_name = "SIZE")]
    pub(crate) max_size: Option<String>,
    /// List the runs without deleting them
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Skip the confirmation
    #[arg(long, short)]
    pub(crate) yes: bool,
}

const PRUNE_EXAMPLES: &str = "\
Running tests are never deleted.

Examples:
  plimsoll runs prune --older-than 30d --dry-run   list the runs that would be deleted
  plimsoll runs prune --keep 100 --yes             keep the newest 100 runs, without confirmation
  plimsoll runs prune --max-size 2GB               delete the oldest runs until the rest fits into 2 GB";

/// `plimsoll show`
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = SHOW_EXAMPLES)]
pub(crate) struct ShowFlags {
    /// Run: @last, @prev, an id prefix, or a path
    #[arg(value_name = "RUN", default_value = "@last")]
    pub(crate) run: String,
    /// Time window, in whole seconds from the start: 30s..2m, 30s.., ..2m
    #[arg(long, value_name = "FROM..TO", allow_hyphen_values = true)]
    pub(crate) window: Option<String>,
    /// Format of the summary: compact, full or legacy
    #[arg(long, value_name = "MODE")]
    pub(crate) summary_mode: Option<String>,
}

const SHOW_EXAMPLES: &str = "\
Name a run by @last, @prev, an id prefix, or the path of its file.

Examples:
  plimsoll show                         the summary of the last run
  plimsoll show ab12                    the run whose id starts with ab12
  plimsoll show @prev --window 30s..2m  the run before the last, from 30 s to 2 min
  plimsoll show @last --summary-mode full";

/// `plimsoll export`
#[derive(Clone, Debug, Args)]
#[command(after_help = EXPORT_EXAMPLES)]
pub(crate) struct ExportFlags {
    /// Run: @last, @prev, an id prefix, or a path
    #[arg(value_name = "RUN", default_value = "@last")]
    pub(crate) run: String,
    /// Export format: csv, json and parquet hold one row per series and second; plimsoll copies the run's file
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: ExportFormat,
    /// Output file [default: standard output; for plimsoll the run's file name in this folder]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// Values of `--format` of `plimsoll export`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    Csv,
    Json,
    Parquet,
    Plimsoll,
}

const EXPORT_EXAMPLES: &str = "\
Examples:
  plimsoll export @last --format csv -o run.csv           one row per series and second, for a spreadsheet
  plimsoll export @last --format json | jq .summary       the summary as JSON
  plimsoll export @last --format parquet -o run.parquet   for DuckDB, pandas, Spark
  plimsoll export ab12 --format plimsoll -o mail-me.plimsoll";

/// `plimsoll merge`
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = MERGE_EXAMPLES)]
pub(crate) struct MergeFlags {
    /// Runs to merge, in any order
    // Not `runs`: that is the name of the flag that says where all runs are, and clap would take one for the other.
    #[arg(value_name = "RUN", num_args = 2.., required = true)]
    pub(crate) segments: Vec<String>,
    /// Output file [default: a new run in the store]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Merge even if scripts or options differ
    #[arg(long)]
    pub(crate) force: bool,
}

const MERGE_EXAMPLES: &str = "\
Merges execution segments that ran on several machines into one run. Counts and quantiles are computed from all samples,
independent of the order.

Examples:
  plimsoll run --execution-segment 0:1/2 script.js    on one machine
  plimsoll run --execution-segment 1/2:1 script.js    on another
  plimsoll merge a.plimsoll b.plimsoll -o whole.plimsoll
  plimsoll show whole.plimsoll";

/// `plimsoll report`
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = REPORT_EXAMPLES)]
pub(crate) struct ReportFlags {
    /// Run: @last, @prev, an id prefix, or a path
    #[arg(value_name = "RUN", default_value = "@last")]
    pub(crate) run: String,
    /// Report format: md and html for people, json for programs, junit for CI [default: by the output file's ending, else md]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<ReportFormat>,
    /// Time window, in whole seconds from the start: 30s..2m
    #[arg(long, value_name = "FROM..TO", allow_hyphen_values = true)]
    pub(crate) window: Option<String>,
    /// Language of md and html
    #[arg(long, value_name = "LANGUAGE", default_value = "en")]
    pub(crate) lang: LangFlag,
    /// Leave the log out of md and json: scripts may log what a reader must not see
    #[arg(long)]
    pub(crate) no_log: bool,
    /// Output file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// Values of `--format` of `plimsoll report`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    Md,
    Json,
    Junit,
    Html,
}

impl ReportFlags {
    /// Returns the format: the given one, or that of the output file's ending.
    pub(crate) fn format(&self) -> ReportFormat {
        let ending = self.output.as_deref().and_then(|output| output.extension()?.to_str());
        let by_ending = match ending.map(str::to_ascii_lowercase).as_deref() {
            Some("html" | "htm") => ReportFormat::Html,
            Some("json") => ReportFormat::Json,
            Some("xml") => ReportFormat::Junit,
            _ => ReportFormat::Md,
        };
        self.format.unwrap_or(by_ending)
    }
}

impl ReportFormat {
    /// Returns the format of reports that it stands for.
    pub(crate) fn format(self) -> session::reports::ReportFormat {
        match self {
            ReportFormat::Md => session::reports::ReportFormat::Md,
            ReportFormat::Json => session::reports::ReportFormat::Json,
            ReportFormat::Junit => session::reports::ReportFormat::Junit,
            ReportFormat::Html => session::reports::ReportFormat::Html,
        }
    }
}

/// Values of `--lang`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LangFlag {
    #[default]
    En,
    Ko,
}

impl LangFlag {
    /// Returns the language of reports.
    pub(crate) fn lang(self) -> report::Lang {
        match self {
            LangFlag::En => report::Lang::En,
            LangFlag::Ko => report::Lang::Ko,
        }
    }
}

const REPORT_EXAMPLES: &str = "\
Examples:
  plimsoll report @last                              Markdown for a pull request
  plimsoll report @last --lang ko -o report.md       in Korean
  plimsoll report @last -o run.html                  the web page with the whole run in one file
  plimsoll report @last --format junit -o tests.xml  thresholds and checks as test cases
  plimsoll report ab12 --format json | jq .verdict   JSON; schema in docs/format/report.schema.json";

/// `plimsoll note`
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = NOTE_EXAMPLES)]
pub(crate) struct NoteFlags {
    /// Run (@last, @prev, an id prefix, or a path) and the text of the note; without a run, the note is of the last one
    #[arg(value_name = "[RUN] TEXT", num_args = 1..=2, required = true)]
    pub(crate) words: Vec<String>,
}

const NOTE_EXAMPLES: &str = "\
Examples:
  plimsoll note 'with the new index on orders'          a note on the last run
  plimsoll note ab12 'with the new index on orders'     on the run whose id starts with ab12";
