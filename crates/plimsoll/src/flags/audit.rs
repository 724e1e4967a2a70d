//! Flags of the auditor.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::LangFlag;

/// `plimsoll audit`
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = AUDIT_EXAMPLES)]
pub(crate) struct AuditFlags {
    /// Runs (@last, an id prefix, a path) and tables (.csv, .json, .md), checked together
    #[arg(value_name = "FILE", default_value = "@last")]
    pub(crate) files: Vec<String>,
    /// Output format: text for a terminal, md for a pull request, json for programs
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: AuditFormat,
    /// Language of text and md
    #[arg(long, value_name = "LANGUAGE", default_value = "en")]
    pub(crate) lang: LangFlag,
    /// Exit with code 122 on a finding of this severity or above
    #[arg(long, value_name = "SEVERITY")]
    pub(crate) fail_on: Option<FailOnFlag>,
    /// Output file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// List the supported tables and columns, and exit
    #[arg(long)]
    pub(crate) columns: bool,
}

/// Values of `--format` of `plimsoll audit`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum AuditFormat {
    #[default]
    Text,
    Md,
    Json,
}

/// Values of `--fail-on` of `plimsoll audit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOnFlag {
    Note,
    Warning,
    Error,
}

const AUDIT_EXAMPLES: &str = "\
Exit code: 0, even with findings; 122 with --fail-on and a finding that severe; 255 if no input could be read.

Examples:
  plimsoll audit                                       the last run
  plimsoll audit results.md                            the tables of a report
  plimsoll audit sweep.csv slos.csv                    tables checked against each other
  plimsoll audit @last --fail-on warning               for continuous integration
  plimsoll audit report.md --format md -o comment.md   Markdown for a pull request
  plimsoll audit results.md --lang ko                  in Korean
  plimsoll audit --columns                             list the supported tables and columns";
