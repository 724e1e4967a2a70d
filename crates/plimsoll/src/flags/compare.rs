//! Flags of `plimsoll compare` and `plimsoll history`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::LangFlag;

/// `plimsoll compare`
#[derive(Clone, Debug, Args)]
#[command(after_help = COMPARE_EXAMPLES)]
pub(crate) struct CompareFlags {
    /// Runs to compare, the baseline first: @last, @prev, an id prefix, a path, or tag:NAME=VALUE; comma-separated for several
    /// runs of one side [default: @prev @last]
    #[arg(value_name = "RUN")]
    pub(crate) sides: Vec<String>,
    /// Output format: text for a terminal, md for a pull request, json for programs
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: CompareFormat,
    /// Language of text and md
    #[arg(long, value_name = "LANGUAGE", default_value = "en")]
    pub(crate) lang: LangFlag,
    /// Output file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) judge: JudgeFlags,
}

/// Settings of the statistical comparison.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Comparison")]
pub(crate) struct JudgeFlags {
    /// Equivalence margin, relative
    #[arg(long, value_name = "SHARE", default_value = "5%")]
    pub(crate) margin: String,
    /// Equivalence margin in milliseconds, used where it is larger than --margin
    #[arg(long, value_name = "MS", default_value = "1")]
    pub(crate) margin_ms: String,
    /// Quantiles to compare for each series
    #[arg(long, value_name = "LIST", default_value = "p50,p90,p95,p99,p99.9", value_delimiter = ',')]
    pub(crate) quantiles: Vec<String>,
    /// Maximum time of a good response [default: every success is good]
    #[arg(long, value_name = "TIME")]
    pub(crate) slo: Option<String>,
    /// Compare latencies even if the loads differ
    #[arg(long)]
    pub(crate) despite_unequal_load: bool,
    /// Compare whole runs if no steady state is found
    #[arg(long)]
    pub(crate) despite_no_steady_part: bool,
    /// Exit with code 121 if anything regressed, and 125 if nothing could be judged
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
Each metric is improved, regressed, equivalent or inconclusive. With three or more runs per side,
the variation between runs is taken into account. Up to seven further sides are compared with the
first, and verdicts hold over all of these comparisons together.

Examples:
  plimsoll compare                                     compare the last two runs
  plimsoll compare @prev @last --fail-on regressed     exit code 121 if anything got worse
  plimsoll compare ab12,ab34,ab56 cd12,cd34,cd56       three runs per side
  plimsoll compare ab12 cd34 ef56                      a column per run, each compared with ab12
  plimsoll compare tag:version=1.4 tag:version=1.5     all runs started with --tag version=…
  plimsoll compare main.plimsoll @last --format md     Markdown for a pull request
  plimsoll compare @prev @last --quantiles p50,p99 --margin 2% --slo 300ms

Exit codes:
  0 compared, whatever the result, 255 any other error; with --fail-on regressed, of any run against
  the first: 121 regressed, 125 nothing judged";

/// `plimsoll history`
#[derive(Clone, Debug, Args)]
#[command(after_help = HISTORY_EXAMPLES)]
pub(crate) struct HistoryFlags {
    /// Script, or one of its runs: @last, @prev, an id prefix, or a path
    #[arg(value_name = "SCRIPT", default_value = "@last")]
    pub(crate) script: String,
    /// Output format: text for a terminal, json for programs
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: HistoryFormat,
    /// Language of text
    #[arg(long, value_name = "LANGUAGE", default_value = "en")]
    pub(crate) lang: LangFlag,
    /// Maximum number of runs, newest first
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
  plimsoll history checkout.js                 list the runs of a script and where they changed
  plimsoll history @last                       the same for the script of the last run
  plimsoll history @last --format json | jq '.changes[]'";
