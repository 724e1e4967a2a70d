//! Flags of `plimsoll compare` and `plimsoll history`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::LangFlag;

/// `plimsoll compare`
#[derive(Clone, Debug, Args)]
#[command(after_help = COMPARE_EXAMPLES)]
pub(crate) struct CompareFlags {
    /// The runs before: @last, @prev, the beginning of an id, a path, or tag:NAME=VALUE; several with commas
    #[arg(value_name = "BEFORE", default_value = "@prev")]
    pub(crate) a: String,
    /// The runs after
    #[arg(value_name = "AFTER", default_value = "@last")]
    pub(crate) b: String,
    /// text for a terminal, md for people, json for programs
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: CompareFormat,
    /// The language of text and md
    #[arg(long, value_name = "LANGUAGE", default_value = "en")]
    pub(crate) lang: LangFlag,
    /// Where to [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) judge: JudgeFlags,
}

/// How runs are judged against each other, of the verbs that do.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "What counts as a change")]
pub(crate) struct JudgeFlags {
    /// The relative difference that does not matter
    #[arg(long, value_name = "SHARE", default_value = "5%")]
    pub(crate) margin: String,
    /// A difference in milliseconds that does not matter, if it is more than --margin
    #[arg(long, value_name = "MS", default_value = "1")]
    pub(crate) margin_ms: String,
    /// The quantiles of each series
    #[arg(long, value_name = "LIST", default_value = "p50,p90,p95,p99,p99.9", value_delimiter = ',')]
    pub(crate) quantiles: Vec<String>,
    /// A response counts as good if it came within this time [default: every success does]
    #[arg(long, value_name = "TIME")]
    pub(crate) slo: Option<String>,
    /// Judge latencies although the load was unequal
    #[arg(long)]
    pub(crate) despite_unequal_load: bool,
    /// Judge runs without a steady part whole
    #[arg(long)]
    pub(crate) despite_no_steady_part: bool,
    /// End with exit code 121 if anything regressed
    #[arg(long, value_name = "VERDICT")]
    pub(crate) fail_on: Option<FailOn>,
}

/// Values of `--format` of `plimsoll compare`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompareFormat {
    #[default]
    Text,
    Md,
    Json,
}

/// Values of `--fail-on`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    Regressed,
}

const COMPARE_EXAMPLES: &str = "\
A row is improved, regressed, equivalent or inconclusive. With three runs or more a side,
how much runs differ from each other is accounted for.

Examples:
  plimsoll compare                                     the last run with the one before
  plimsoll compare @prev @last --fail-on regressed     exit code 121 if anything got worse
  plimsoll compare ab12,ab34,ab56 cd12,cd34,cd56       three runs a side
  plimsoll compare tag:version=1.4 tag:version=1.5     all runs that were made with --tag version=…
  plimsoll compare main.plimsoll @last --format md     for a pull request
  plimsoll compare @prev @last --quantiles p50,p99 --margin 2% --slo 300ms

Exit codes:
  0 whatever is found, 121 regressed (with --fail-on regressed), 255 anything else";

/// `plimsoll history`
#[derive(Clone, Debug, Args)]
#[command(after_help = HISTORY_EXAMPLES)]
pub(crate) struct HistoryFlags {
    /// The script, or a run of it: @last, @prev, the beginning of an id, or the path of a run
    #[arg(value_name = "SCRIPT", default_value = "@last")]
    pub(crate) script: String,
    /// text for a terminal, json for programs
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: HistoryFormat,
    /// The language of text
    #[arg(long, value_name = "LANGUAGE", default_value = "en")]
    pub(crate) lang: LangFlag,
    /// Not more than the newest N runs
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) limit: u16,
}

/// Values of `--format` of `plimsoll history`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum HistoryFormat {
    #[default]
    Text,
    Json,
}

const HISTORY_EXAMPLES: &str = "\
Examples:
  plimsoll history checkout.js                 the runs of a script, and between which of them something changed
  plimsoll history @last                       the same, of the last run's script
  plimsoll history @last --format json | jq '.changes[]'";
