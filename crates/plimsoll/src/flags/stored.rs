//! Flags about runs that are stored.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// What a new run leaves, of the verbs that make one.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "The run's file")]
pub(crate) struct RecordFlags {
    /// Store nothing
    #[arg(long, default_missing_value = "true", num_args = 0..=1, require_equals = true, value_name = "BOOL", hide_possible_values = true)]
    pub(crate) no_store: Option<bool>,
    /// What to call the run
    #[arg(long, value_name = "TEXT")]
    pub(crate) name: Option<String>,
    /// A note on the run; repeatable
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Vec<String>,
    /// The version of what is tested
    #[arg(long, value_name = "TEXT")]
    pub(crate) target_version: Option<String>,
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
  plimsoll runs                                    the latest runs, the newest first
  plimsoll runs --status failed --since 7d         what failed in the last week
  plimsoll runs --script checkout --tag env=stage  runs of a script, with a tag
  plimsoll runs --json | jq '.[].id'               for programs
  plimsoll runs prune --older-than 30d --dry-run   what a clean-up would delete";

/// Which runs are listed, and how.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct RunsListFlags {
    /// Only runs whose script's or own name contains this
    #[arg(long, value_name = "TEXT")]
    pub(crate) script: Option<String>,
    /// Only runs with this tag; repeatable
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) tag: Vec<String>,
    /// Only runs that ended like this
    #[arg(long, value_name = "STATUS")]
    pub(crate) status: Option<StatusFlag>,
    /// Only runs since a time (2026-11-21) or a span ago (12h, 7d)
    #[arg(long, value_name = "WHEN")]
    pub(crate) since: Option<String>,
    /// Not more than so many
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) limit: usize,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StatusFlag {
    /// It ended with exit code 0.
    Passed,
    /// It ended with another one.
    Failed,
    /// It never ended: it was killed, or the disk was full.
    Partial,
    /// It is still going.
    Live,
}

/// What else can be done with all runs.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum RunsVerb {
    /// Delete old runs: says which, and asks first.
    Prune(PruneFlags),
}

/// `plimsoll runs prune`
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = PRUNE_EXAMPLES)]
pub(crate) struct PruneFlags {
    /// Delete runs that started longer ago than this
    #[arg(long, value_name = "SPAN")]
    pub(crate) older_than: Option<String>,
    /// Delete all but the newest N
    #[arg(long, value_name = "N")]
    pub(crate) keep: Option<usize>,
    /// Delete the oldest until all of them together take no more than this
    #[arg(long, value_name = "SIZE")]
    pub(crate) max_size: Option<String>,
    /// Only say which
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
}

const PRUNE_EXAMPLES: &str = "\
Runs that are still going are never deleted.

Examples:
  plimsoll runs prune --older-than 30d --dry-run   what would be deleted
  plimsoll runs prune --keep 100 --yes             all but the newest hundred, without a question
  plimsoll runs prune --max-size 2GB               the oldest, until the rest fits into 2 GB";

/// `plimsoll show`
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = SHOW_EXAMPLES)]
pub(crate) struct ShowFlags {
    /// The run: @last, @prev, the beginning of its id, or a path
    #[arg(value_name = "RUN", default_value = "@last")]
    pub(crate) run: String,
    /// Only this part of the run, in whole seconds from its start: 30s..2m, 30s.., ..2m
    #[arg(long, value_name = "FROM..TO", allow_hyphen_values = true)]
    pub(crate) window: Option<String>,
    /// Rows: compact, full or legacy
    #[arg(long, value_name = "MODE")]
    pub(crate) summary_mode: Option<String>,
}

const SHOW_EXAMPLES: &str = "\
A run is named by @last, @prev, the beginning of its id, or the path of its file.

Examples:
  plimsoll show                         the last run, as its terminal showed it
  plimsoll show ab12                    the run whose id begins with ab12
  plimsoll show @prev --window 30s..2m  the run before, without its first half minute
  plimsoll show @last --summary-mode full";

/// `plimsoll export`
#[derive(Clone, Debug, Args)]
#[command(after_help = EXPORT_EXAMPLES)]
pub(crate) struct ExportFlags {
    /// The run: @last, @prev, the beginning of its id, or a path
    #[arg(value_name = "RUN", default_value = "@last")]
    pub(crate) run: String,
    /// csv, json and parquet: the series second by second; plimsoll: the run's file itself, also of a run that is going
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: ExportFormat,
    /// Where to [default: standard output; plimsoll: the file's own name in this folder]
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
  plimsoll export @last --format csv -o run.csv           a row per series and second, for a spreadsheet
  plimsoll export @last --format json | jq .summary       the whole summary and all seconds
  plimsoll export @last --format parquet -o run.parquet   for DuckDB, pandas, Spark
  plimsoll export ab12 --format plimsoll -o mail-me.plimsoll";

/// `plimsoll merge`
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = MERGE_EXAMPLES)]
pub(crate) struct MergeFlags {
    /// The runs, in any order
    // Not `runs`: that is the name of the flag that says where all runs are, and clap would take one for the other.
    #[arg(value_name = "RUN", num_args = 2.., required = true)]
    pub(crate) segments: Vec<String>,
    /// Where to [default: a new run of the catalogue]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Merge runs of different scripts or options, too
    #[arg(long)]
    pub(crate) force: bool,
}

const MERGE_EXAMPLES: &str = "\
Segments of one test, run on several machines, become the run that one machine would have made: counts and quantiles
are those of all samples together, whatever the order.

Examples:
  plimsoll run --execution-segment 0:1/2 script.js    on one machine
  plimsoll run --execution-segment 1/2:1 script.js    on another
  plimsoll merge a.plimsoll b.plimsoll -o whole.plimsoll
  plimsoll show whole.plimsoll";

/// `plimsoll report`
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = REPORT_EXAMPLES)]
pub(crate) struct ReportFlags {
    /// The run: @last, @prev, the beginning of its id, or a path
    #[arg(value_name = "RUN", default_value = "@last")]
    pub(crate) run: String,
    /// md and html for people, json for programs, junit for continuous integration
    #[arg(long, value_name = "FORMAT", default_value = "md")]
    pub(crate) format: ReportFormat,
    /// Only this part of the run, in whole seconds from its start: 30s..2m
    #[arg(long, value_name = "FROM..TO", allow_hyphen_values = true)]
    pub(crate) window: Option<String>,
    /// The language of md and html
    #[arg(long, value_name = "LANGUAGE", default_value = "en")]
    pub(crate) lang: LangFlag,
    /// Where to [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// Values of `--format` of `plimsoll report`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    #[default]
    Md,
    Json,
    Junit,
    Html,
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
    /// The language.
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
  plimsoll report @last --format html -o run.html    the page with all of the run in one file
  plimsoll report @last --format junit -o tests.xml  thresholds and checks as test cases
  plimsoll report ab12 --format json | jq .verdict   its schema is docs/format/report.schema.json";

/// `plimsoll note`
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = NOTE_EXAMPLES)]
pub(crate) struct NoteFlags {
    /// The run: @last, @prev, the beginning of its id, or a path
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// What to write beside it
    #[arg(value_name = "TEXT")]
    pub(crate) text: String,
}

const NOTE_EXAMPLES: &str = "\
Examples:
  plimsoll note @last 'with the new index on orders'";
